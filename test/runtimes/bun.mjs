import { createShop } from "./shop.mjs";

const { SHOP_KEY, SHOP_PORT } = process.env;
Bun.serve({ hostname: "127.0.0.1", port: SHOP_PORT, fetch: createShop(SHOP_KEY, "Bun") });
console.log("listening");
