// An identity provider for tests: `node identity.mjs FOLDER_OF_MODULES PORT RESOURCE`.
//
// Two programs, `ada` and `eve`, get access tokens for themselves; what they claim says who they are.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, resource] = process.argv.slice(2);
const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(found));

const issuer = `http://127.0.0.1:${port}`;
const client = (id) => ({
  client_id: id,
  client_secret: `${id}-keeps-this`,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
});
const roles = { ada: ["librarians"], eve: ["strangers"] };
const provider = new Provider(issuer, {
  clients: [client("ada"), client("eve")],
  scopes: ["books", "other"],
  extraTokenClaims: (context, token) => ({ realm: { roles: roles[token.clientId] ?? [] } }),
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (context, indicator) => ({
        scope: "books other",
        audience: indicator,
        accessTokenTTL: 600,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1");
