import { createShop } from "./shop.mjs";

const { SHOP_KEY, SHOP_PORT } = Deno.env.toObject();
const onListen = () => console.log("listening");
Deno.serve({ hostname: "127.0.0.1", port: Number(SHOP_PORT), onListen }, createShop(SHOP_KEY, "Deno"));
