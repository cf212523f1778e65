// Says how long the import of one package takes, or, asked for "files", which files it loads.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

const { specifier, files } = JSON.parse(process.argv[2]);
const loaded = [];
if (files) {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith("file:")) loaded.push(fileURLToPath(url));
      return next(url, context);
    },
  });
}
const begin = performance.now();
await import(specifier);
const ms = performance.now() - begin;
process.send(files ? loaded.map((file) => ({ file, text: readFileSync(file, "utf8") })) : { ms });
