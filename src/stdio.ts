// volley-mcp/stdio: serve one client over standard input and output.
export { type StdioOptions, serveStdio } from "./server/node/stdio.ts";
