// The four formats that a form knows, as JSON Schema 2020-12 defines them. Every pattern is linear.

const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=])*$/;
const mailbox = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const quotedMailbox = /^"(?:[ !#-[\]-~]|\\[ -~])+"$/;
const domain = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const addressLiteral = /^\[[A-Za-z0-9:.]+\]$/;

export const formats: Record<"email" | "uri" | "date" | "date-time", (text: string) => boolean> = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  "date-time": isDateTime,
};

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || text.length > 320) return false;
  const local = text.slice(0, at);
  const host = text.slice(at + 1);
  if (!mailbox.test(local) && !quotedMailbox.test(local)) return false;
  return addressLiteral.test(host) || host.split(".").every((label) => label.length <= 63 && domain.test(label));
}

function isUri(text: string): boolean {
  return uri.test(text) && URL.canParse(text);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isDateTime(text: string): boolean {
  const parts = dateTime.exec(text);
  if (parts === null || !isDate(parts[1] ?? "")) return false;
  const hour = Number(parts[2]);
  const minute = Number(parts[3]);
  const second = Number(parts[4]);
  const offsetHour = Number(parts[6] ?? 0);
  const offsetMinute = Number(parts[7] ?? 0);
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // RFC 3339: second 60 is a leap second, which falls on 23:59 UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (parts[5] === "-" ? -1 : 1);
  return second === 60 && (hour * 60 + minute - offset + 2880) % 1440 === 1439;
}
