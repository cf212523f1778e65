import type { Principal, ServerOptions } from "../../src/index.ts";

/** Users of the fleets' shops: their token is their name. */
export function authenticate(
  request: Parameters<NonNullable<ServerOptions["authenticate"]>>[0],
): Principal | undefined {
  const user = /^Bearer (user-\d+)$/.exec(request.header("authorization") ?? "")?.[1];
  return user === undefined ? undefined : { type: "user", issuer: "https://id.example", subject: user };
}
