import { createShop } from "./shop.mjs";

const onListen = ({ port }) => console.log(`port ${port}`);
Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, createShop(Deno.env.get("SHOP_KEY"), "Deno"));
