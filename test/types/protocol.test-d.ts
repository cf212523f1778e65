import { expectTypeOf } from "vitest";
import type {
  CallToolRequest,
  CallToolResult,
  ElicitResult,
  InputRequiredResult,
  JSONRPCRequest,
  ListToolsResult,
  Received,
  Tool,
} from "../../src/protocol/index.ts";

// A specific request is a request, a specific result narrows by its type.
expectTypeOf<CallToolRequest>().toExtend<JSONRPCRequest>();
declare const result: CallToolResult | InputRequiredResult;
if (result.resultType === "input_required") expectTypeOf(result).toEqualTypeOf<InputRequiredResult>();
else expectTypeOf(result.isError).toEqualTypeOf<boolean | undefined>();

// Absent cache hints leave the other members as they are.
declare const page: Received<ListToolsResult>;
expectTypeOf(page.tools).toEqualTypeOf<Tool[]>();
expectTypeOf(page.ttlMs).toEqualTypeOf<number | undefined>();

// Content counts after accept alone.
declare const answer: ElicitResult;
if (answer.action === "accept") expectTypeOf(answer.content).toEqualTypeOf<{ [key: string]: unknown } | undefined>();
else expectTypeOf(answer.content).toBeUnknown();
