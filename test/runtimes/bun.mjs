import { createShop } from "./shop.mjs";

const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: createShop(process.env.SHOP_KEY, "Bun") });
console.log(`port ${port}`);
