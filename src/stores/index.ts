// What the stores of ledgers and of tasks do alike.
export { refuseEviction, runScript, type Script } from "./redis.ts";
export { openSqlite, type SqliteFile, type SqliteOptions } from "./sqlite.ts";
