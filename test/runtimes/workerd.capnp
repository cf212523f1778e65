using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "shop", worker = .shop ),
    # The worker's own requests: other shops listen on the loopback.
    ( name = "internet", network = ( allow = ["private", "local", "public"] ) ),
  ],
  sockets = [ ( name = "http", http = (), service = "shop" ) ],
);

const shop :Workerd.Worker = (
  modules = [ ( name = "worker", esModule = embed "/worker.mjs" ) ],
  compatibilityDate = "2024-09-23",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [ ( name = "SHOP_KEY", fromEnvironment = "SHOP_KEY" ) ],
);
