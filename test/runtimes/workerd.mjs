import { createShop } from "./shop.mjs";

/** @type {ReturnType<typeof createShop> | undefined} */
let shop;

/**
 * @param {Request} request
 * @param {{ SHOP_KEY: string }} env
 */
function fetch(request, { SHOP_KEY }) {
  shop ??= createShop(SHOP_KEY, "workerd");
  return shop(request);
}

export default { fetch };
