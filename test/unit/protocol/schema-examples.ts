// One full example of each part of a message, every optional member included.
export const ICON = { src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" };
export const ANNOTATIONS = { audience: ["user", "assistant"], priority: 0.5, lastModified: "2026-07-28T00:00:00Z" };
export const TEXT = { type: "text", text: "hello", annotations: ANNOTATIONS, _meta: { "com.example/a": 1 } };
export const IMAGE = { type: "image", data: "aGVsbG8=", mimeType: "image/png" };
export const AUDIO = { type: "audio", data: "aGVsbG8=", mimeType: "audio/wav" };
export const CONTENTS = { uri: "file:///a.txt", mimeType: "text/plain", text: "hello", _meta: {} };
export const EMBEDDED = { type: "resource", resource: CONTENTS };
export const RESOURCE = {
  uri: "file:///a.txt",
  name: "a",
  title: "A",
  description: "the file",
  mimeType: "text/plain",
  size: 5,
  icons: [ICON],
  annotations: ANNOTATIONS,
  _meta: {},
};
export const LINK = { type: "resource_link", ...RESOURCE };
export const TEMPLATE = {
  uriTemplate: "file:///{path}",
  name: "files",
  title: "Files",
  description: "all",
  mimeType: "a/b",
};
export const TOOL = {
  name: "get_weather",
  title: "Weather",
  description: "Tells the weather",
  inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: {} },
  outputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
  annotations: { title: "W", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  icons: [ICON],
  _meta: {},
};
export const PROMPT = {
  name: "greet",
  title: "Greet",
  description: "Greets",
  arguments: [{ name: "who", title: "Who", description: "whom", required: true }],
};
export const TOOL_USE = { type: "tool_use", id: "u1", name: "get_weather", input: { city: "Paris" }, _meta: {} };
export const TOOL_RESULT = {
  type: "tool_result",
  toolUseId: "u1",
  content: [TEXT, LINK],
  structuredContent: { celsius: 18 },
  isError: false,
};
export const PAGE = {
  resultType: "complete",
  ttlMs: 1000,
  cacheScope: "public",
  nextCursor: "c1",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
};
