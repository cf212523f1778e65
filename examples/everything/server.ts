import { registerContent } from "./content.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import { registerRounds } from "./rounds.ts";
import { registerSeeds } from "./seeds.ts";
import { registerShowcase } from "./showcase.ts";
import { registerSignals } from "./signals.ts";
import { registerTasks } from "./tasks.ts";
import { createServer, type Server, type ServerOptions } from "./volley.ts";

/**
 * One server that shows every feature. Names that begin with `test_` are those that the official conformance suite
 * looks for; the rest is ours.
 */
export function createEverything(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({
    name: "everything",
    title: "Everything",
    version: "1.0.0",
    description: "Shows what a Volley server can do.",
    websiteUrl: "https://example.com/everything",
    instructions: "Call test_simple_text to see that it works, three_questions to see rounds.",
    ...options,
  });
  registerContent(server); // first: clients that try any tool with `{}` take the first of the list
  registerSignals(server);
  registerRounds(server);
  registerShowcase(server);
  registerSeeds(server);
  registerTasks(server);
  registerPrompts(server);
  registerResources(server);
  return server;
}
