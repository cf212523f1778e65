import { z } from "zod";
import { PNG } from "./samples.ts";
import type { Server } from "./volley.ts";

/** Prompts with text, arguments that complete, resources, images, and questions of their own. */
export function registerPrompts(server: Server): void {
  server.prompt("test_simple_prompt", { description: "A prompt without arguments" }, () => {
    return "This is a simple prompt for testing.";
  });
  server.prompt(
    "test_prompt_with_arguments",
    {
      title: "A prompt with arguments",
      description: "A prompt with two arguments",
      arguments: z.object({
        arg1: z.string().meta({ description: "First test argument" }),
        arg2: z.string().meta({ description: "Second test argument" }),
      }),
      complete: {
        arg1: (value) => ["paris", "park", "party"].filter((suggestion) => suggestion.startsWith(value)),
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.prompt(
    "test_prompt_with_embedded_resource",
    {
      description: "A prompt with a resource inside",
      arguments: z.object({ resourceUri: z.string().meta({ description: "URI of the resource to embed" }) }),
    },
    ({ resourceUri }) => [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        },
      },
      { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
    ],
  );
  server.prompt("test_prompt_with_image", { description: "A prompt with an image" }, () => [
    { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
    { role: "user", content: { type: "text", text: "Please analyze the image above." } },
  ]);

  server.prompt(
    "test_input_required_result_prompt",
    { description: "A prompt that asks for its context" },
    async (_args, ctx) => {
      const { context } = await ctx.elicit("user_context", {
        message: "What context should the prompt use?",
        schema: z.object({ context: z.string() }),
      });
      return `Use the following context: ${context}`;
    },
  );
}
