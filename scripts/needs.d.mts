// The types of needs.mjs, which must stay JavaScript.
export interface Need {
  readonly name: string;
  readonly program: string;
  readonly debian: string;
  readonly usedBy: string;
}

export const needs: readonly Need[];
export function findProgram(program: string): string | undefined;
export function isInstalled(program: string): boolean;
export function missingNeeds(): Need[];
export function notRun(need: Need): string;
