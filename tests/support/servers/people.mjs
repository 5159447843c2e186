// An identity provider for people: `node people.mjs FOLDER_OF_MODULES PORT ADDRESS ACCOUNTS`.
//
// Its pages take any name that stands in the file ACCOUNTS, which is read at every sign-in, with any password.
// The dashboard at ADDRESS is its client; the program `robot` gets access tokens for the API of it.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, port, address, file] = process.argv.slice(2);
const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(found));
const accounts = () => JSON.parse(readFileSync(file, "utf8"));

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "prowess",
      client_secret: "prowess-keeps-this",
      redirect_uris: [`${address}/login/callback`],
      post_logout_redirect_uris: [`${address}/login`],
    },
    {
      client_id: "robot",
      client_secret: "robot-keeps-this",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
  cookies: { keys: ["of a test"] },
  pkce: { required: () => true },
  findAccount: (context, id) => accounts()[id] && { accountId: id, claims: () => ({ sub: id, ...accounts()[id] }) },
  extraTokenClaims: (context, token) => accounts()[token.clientId],
  features: {
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (context, indicator) => ({
        scope: "api",
        audience: indicator,
        accessTokenTTL: 600,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1");
