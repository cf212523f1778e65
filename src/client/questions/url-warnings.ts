// What is odd about an address that a server wants a person to open.
import { VolleyError } from "../../protocol/index.ts";

/**
 * Why a person should look twice: `punycode`: a host with letters that may only look familiar; `userinfo`: text before an
 * `@` that may pass for the host; `not_https`: anybody on the way can read it; `ip_address`: no name that could be known.
 */
export type UrlWarning = "punycode" | "userinfo" | "not_https" | "ip_address";

/** An address as it would be opened. */
export interface CheckedUrl {
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly UrlWarning[];
}

/**
 * Reads the address of a URL question without touching the network.
 *
 * Throws VolleyError `message_invalid` for anything but http and https.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
export function checkUrl(address: string): CheckedUrl {
  if (!URL.canParse(address))
    throw new VolleyError("message_invalid", "The server asks to open an address that is no URL.");
  const url = new URL(address);
  const { protocol, hostname } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    throw new VolleyError(
      "message_invalid",
      `The server asks to open a ${protocol} address: only web pages can be opened.`,
    );
  }
  const warnings: UrlWarning[] = [];
  if (hostname.split(".").some((label) => label.startsWith("xn--"))) warnings.push("punycode");
  if (url.username !== "" || url.password !== "") warnings.push("userinfo");
  if (!isLoopback(hostname)) {
    if (protocol === "http:") warnings.push("not_https");
    if (isIpAddress(hostname)) warnings.push("ip_address");
  }
  return { url: url.href, host: url.host, warnings };
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(\.\d+){3}$/.test(hostname)
  );
}

// The URL parser writes every spelling of an IPv4 address (hexadecimal, one number, ...) in four decimal parts.
function isIpAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^\d+(\.\d+){3}$/.test(hostname);
}
