import { serve } from "@hono/node-server";
import { createShop } from "./shop.mjs";

const { SHOP_KEY, SHOP_PORT } = process.env;
serve({ fetch: createShop(SHOP_KEY, "Node"), hostname: "127.0.0.1", port: Number(SHOP_PORT) }, () => {
  console.log("listening");
});
