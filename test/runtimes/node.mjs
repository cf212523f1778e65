import { serve } from "@hono/node-server";
import { createShop } from "./shop.mjs";

const fetch = createShop(process.env.SHOP_KEY, "Node");
serve({ fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`port ${port}`));
