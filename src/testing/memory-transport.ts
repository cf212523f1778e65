import type { Transport } from "../client/index.ts";
import type { JSONRPCRequest, JSONRPCResponse } from "../protocol/index.ts";
import { VolleyError } from "../protocol/index.ts";
import { Call, type Core, coreOf, type HeaderReader, type Server } from "../server/index.ts";
import { ANONYMOUS, type Principal, readPrincipal } from "../state/index.ts";

/** A transport that hands each message to a server in this process, as text, the way a wire would. */
export function createMemoryTransport(server: Server, caller: Principal = ANONYMOUS): Transport {
  const principal = readPrincipal(caller, "principal");
  const core = coreOf(server);
  core.serving = true;
  const closing = new AbortController();
  return {
    kind: "memory",
    address: "memory",
    async send(request, { signal, onNotification }) {
      const ending = AbortSignal.any([signal, closing.signal]);
      ending.throwIfAborted();
      const call = new MemoryCall(principal, (message) => onNotification(JSON.parse(message)));
      const gone = new Promise<never>((_resolve, reject) => {
        const end = (): void => {
          call.drop(ending.reason);
          reject(ending.reason);
        };
        ending.addEventListener("abort", end, { once: true });
      });
      try {
        return await Promise.race([answer(core, request, call), gone]);
      } finally {
        call.done = true;
      }
    },
    async close() {
      closing.abort(new VolleyError("closed", "The client is closed."));
    },
  };
}

class MemoryCall extends Call {
  readonly headers: HeaderReader | undefined = undefined;
  readonly #receive: (message: string) => void;

  constructor(principal: Principal, receive: (message: string) => void) {
    super();
    this.principal = principal;
    this.#receive = receive;
  }

  protected write(message: string): boolean {
    this.#receive(message);
    return true;
  }

  protected watch(): void {}
}

async function answer(core: Core, request: JSONRPCRequest, call: MemoryCall): Promise<JSONRPCResponse> {
  const { body } = await core.receive(JSON.stringify(request), call);
  if (body === undefined) throw new VolleyError("message_invalid", "The server sent no answer to a request.");
  return JSON.parse(body);
}
