// What JSON can say, as types.

/** Whatever JSON can say. */
export type JSONValue = string | number | boolean | null | JSONObject | JSONArray;

/** A JSON object. */
export type JSONObject = { [key: string]: JSONValue };

/** A JSON array. */
export type JSONArray = JSONValue[];
