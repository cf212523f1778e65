import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    testTimeout: 20_000,
    // Tests of real processes wait for real time; a machine that stood still for a moment gets a second look in CI.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
