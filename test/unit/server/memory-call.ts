// A call without a transport: what it sent, and a reader as slow as the test wants.
import { Call } from "../../../src/server/index.ts";

export class MemoryCall extends Call {
  readonly headers = undefined;
  readonly sent: unknown[] = [];
  slow = false;

  protected write(message: string): boolean {
    this.sent.push(JSON.parse(message));
    return !this.slow;
  }

  protected watch(): void {}

  catchUp(): void {
    this.slow = false;
    this.drained();
  }
}
