import { connect as open } from "volley-mcp/client";
import { ANSWER, type Connect } from "./client.ts";

export const connect: Connect = async (url) => {
  const client = await open(url, { form: () => ANSWER });
  return {
    async call(id): Promise<string> {
      const { content } = await client.callTool("resolve_bug", { id });
      const block = content[0];
      return block?.type === "text" ? block.text : "";
    },
  };
};
