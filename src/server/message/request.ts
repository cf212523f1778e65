import type { RequestId, RequestMetaObject } from "../../protocol/index.ts";
import type { Call } from "./call.ts";

/** One request whose envelope was checked. */
export interface Request {
  readonly id: RequestId;
  readonly params: Record<string, unknown>;
  readonly meta: RequestMetaObject;
  readonly call: Call;
}

/** Answers one method with the JSON of its result. */
export type Method = (request: Request) => string | Promise<string>;

/** How requests for one method are answered. */
export interface Route {
  readonly run: Method;
  /** Counts against what a caller may ask for in a minute, and against what may run at once. */
  readonly counted: boolean;
}
