// Replies that an edge has compressed though nobody asked it to.
import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { VolleyError } from "../protocol/index.ts";

/**
 * The body of a reply without its compression, as it arrives; `fail` hears when it is damaged.
 *
 * Throws VolleyError `message_invalid` for an encoding that this version of Node cannot undo.
 */
export function decoded(incoming: IncomingMessage, fail: (error: VolleyError) => void): Readable {
  const encoding = incoming.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return incoming;
  const decoder = createDecoder(encoding);
  const { pipeline } = process.getBuiltinModule("node:stream");
  // What breaks off or is destroyed says so by itself; the pipeline takes the decoder along.
  return pipeline(incoming, decoder, (cause) => {
    if (cause)
      fail(new VolleyError("message_invalid", `The server's reply is no sound "${encoding}" data.`, { cause }));
  });
}

function createDecoder(encoding: string): Transform {
  const zlib = process.getBuiltinModule("node:zlib");
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants;
  // An end without the trailer is an end, as it is for fetch.
  const flush = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH };
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.createGunzip(flush);
  if (encoding === "deflate") return zlib.createInflate(flush);
  if (encoding === "br")
    return zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH });
  // Since Node 22.15.
  if (encoding === "zstd" && zlib.createZstdDecompress !== undefined)
    return zlib.createZstdDecompress({ flush: ZSTD_e_flush, finishFlush: ZSTD_e_flush });
  throw new VolleyError(
    "message_invalid",
    `The server's reply is encoded as "${encoding}", which this client cannot read: it asks for "identity". Tell whoever runs the server or the proxy before it.`,
  );
}
