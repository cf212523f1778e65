/** A client under test, connected to the floor server. */
export interface BenchClient {
  /** Calls `resolve_bug`, answers its one form and returns the text of the final result: two requests. */
  call(id: number): Promise<string>;
}

export type Connect = (url: string) => Promise<BenchClient>;

/** What the person says. */
export const ANSWER = { resolution: "Duplicate" };
