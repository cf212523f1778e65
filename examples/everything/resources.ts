import { z } from "zod";
import { PNG } from "./samples.ts";
import type { Server } from "./volley.ts";

const Audience = z.object({ audience: z.string() });

/** Resources with text and bytes, a template that completes, one to watch, and one that asks before it is read. */
export function registerResources(server: Server): void {
  server.resource(
    "static-text",
    "test://static-text",
    { title: "Static text", description: "A text that never changes", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );
  server.resource(
    "static-binary",
    "test://static-binary",
    { description: "A picture that never changes", mimeType: "image/png" },
    () => Buffer.from(PNG, "base64"),
  );
  server.resource(
    "watched-resource",
    "test://watched-resource",
    { description: "A text to subscribe to", mimeType: "text/plain" },
    () => "Watched resource content",
  );
  server.resource(
    "input-required",
    "test://input-required",
    { description: "A text for a reader that it asks for", mimeType: "text/plain" },
    async (_uri, ctx) => {
      const { audience } = await ctx.elicit("audience", { message: "Who will read this?", schema: Audience });
      return `A text for ${audience}.`;
    },
  );
  server.resourceTemplate(
    "template",
    "test://template/{id}/data",
    {
      description: "Data by its number",
      mimeType: "application/json",
      complete: { id: (value) => ["123", "124", "200"].filter((id) => id.startsWith(value)) },
    },
    ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}
