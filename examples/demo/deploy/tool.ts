import { z } from "zod";
import type { Server } from "../../../src/index.ts";
import type { Platform } from "./platform.ts";

const App = z.object({ app: z.string() });
const Region = z.object({ region: z.enum(["Frankfurt", "Oregon", "Singapore"]) });
const Share = z.object({ share: z.enum(["1 %", "10 %", "everybody"]) });

/**
 * A tool whose work outlives the request that began it. It is a straight line all the same: what it needs to begin it asks
 * by rounds, of which no server keeps anything; from `toTask` on its journal is in a file, and any process goes on with it.
 */
export function registerDeploy(server: Server, platform: Platform): void {
  server.tool(
    "deploy",
    { title: "Deploy", description: "Brings an app to users", input: App },
    async ({ app }, ctx) => {
      const { region } = await ctx.elicit("region", { message: `Where is ${app} to run?`, schema: Region });
      if (!(await ctx.confirm("sure", `Deploy ${app} to ${region}?`))) return "Nothing was deployed.";

      await ctx.toTask({ message: "waits for a worker" });

      ctx.progress(0, 5, "0 of 5, builds the image");
      const image = await ctx.step("build", () => platform.build(app));

      ctx.progress(1, 5, `1 of 5, copies the image to ${region}`);
      const [{ share }] = await Promise.all([
        ctx.elicit("share", { message: `The image is on its way. Who is to get ${app} first?`, schema: Share }),
        ctx.step("copy", () => platform.copy(image, region)),
      ]);

      ctx.progress(2, 5, "2 of 5, starts the app");
      await ctx.step("start", () => platform.start(image, region));

      ctx.progress(3, 5, "3 of 5, checks that it answers");
      await ctx.step("check", () => platform.check(image, region));

      ctx.progress(4, 5, "4 of 5, releases it");
      await ctx.once("release", ({ idempotencyKey }) => platform.release({ app, region, share }, idempotencyKey));
      return `${app} runs in ${region}; released to ${share}.`;
    },
  );
}
