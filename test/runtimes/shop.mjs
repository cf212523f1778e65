// What each runtime serves and asks: the built package and zod, as their users import them.
import { createServer } from "volley-mcp";
import { connect } from "volley-mcp/client";
import { z } from "zod";

const Item = z.object({ item: z.string().min(1) });
const Note = z.object({ note: z.string().max(100) });
const Sent = z.object({
  item: z.string(),
  note: z.string(),
  begunOn: z.string(),
  packedOn: z.string(),
  sentFrom: z.string(),
});

/**
 * @param {string} key
 * @param {string} place
 * @returns {(request: Request) => Promise<Response>}
 */
export function createShop(key, place) {
  const server = createServer({ name: "shop", version: "1.0.0", keys: [key], audience: "https://shop.example/mcp" });
  server.tool("order", { input: z.object({ order: z.string() }), output: Sent }, async ({ order }, ctx) => {
    const begunOn = await ctx.step("begin", () => place);
    const { item } = await ctx.elicit("item", { message: `What for ${order}?`, schema: Item });
    const packedOn = await ctx.step("pack", () => place);
    const { note } = await ctx.elicit("note", { message: `Anything about ${item}?`, schema: Note });
    return { item, note, begunOn, packedOn, sentFrom: place };
  });
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/order") return await server.fetch(request);
    return Response.json(await order(searchParams.get("at") ?? ""));
  };
}

/**
 * Orders at another shop, with the client as it runs here.
 *
 * @param {string} url
 */
async function order(url) {
  const client = await connect(url, {
    form: ({ fields: [{ name }] }) => ({ action: "accept", content: { [name]: `my ${name}` } }),
  });
  try {
    return (await client.callTool("order", { order: "7" })).structuredContent;
  } finally {
    await client.close();
  }
}
