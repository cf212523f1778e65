import type { Transport } from "../client/index.ts";
import type { JSONRPCResponse } from "../protocol/index.ts";
import { VolleyError } from "../protocol/index.ts";
import { Call, coreOf, type HeaderReader, type Reply, type Server } from "../server/index.ts";
import { ANONYMOUS, type Principal, readPrincipal } from "../state/index.ts";

/** A transport that hands each message to a server in this process, as text, the way a wire would. */
export function createMemoryTransport(server: Server, caller: Principal = ANONYMOUS): Transport {
  const principal = readPrincipal(caller, "principal");
  const core = coreOf(server);
  core.serving = true;
  const open = new Set<MemoryCall>();
  let closed = false;
  return {
    kind: "memory",
    address: "memory",
    async send(request, { signal, onNotification }) {
      if (closed) throw closedError();
      const call = new MemoryCall(principal, (message) => onNotification(JSON.parse(message)));
      open.add(call);
      try {
        const reply = await core.receive(JSON.stringify(request), call);
        return await Promise.race([read(reply), ended(signal, call)]);
      } finally {
        call.done = true;
        open.delete(call);
      }
    },
    async close() {
      closed = true;
      for (const call of open) call.drop(closedError());
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

function closedError(): VolleyError {
  return new VolleyError("closed", "The client is closed.");
}

async function read({ body }: Reply): Promise<JSONRPCResponse> {
  if (body === undefined) throw new VolleyError("message_invalid", "The server sent no answer to a request.");
  return JSON.parse(body);
}

function ended(signal: AbortSignal, call: MemoryCall): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => {
      call.drop(signal.reason);
      reject(signal.reason);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
