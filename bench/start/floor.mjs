// The smallest server that can answer: what Node itself needs from its start to its first answer.
import { createServer } from "node:http";

const http = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => {
    text += chunk;
  });
  request.on("end", () => {
    const { id, params } = JSON.parse(text);
    const result = {
      resultType: "complete",
      content: [{ type: "text", text: String(params.arguments.a + params.arguments.b) }],
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
});
http.listen(0, "127.0.0.1", () => process.send({ port: http.address().port }));
