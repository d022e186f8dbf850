/**
 * The client that the conformance runner of the protocol watches: connects to the address
 * that it is given, lets the user go to the authorization server when the server at that
 * address wants it, and calls every tool it finds there.
 */
import { argv, env } from "node:process";
import { McpToolHandler } from "../../src/mcp/mod.ts";
import { type OAuthClient, oauthClient } from "./oauth_client.ts";
import {
  clientCredentials,
  companyGrant,
  signedCredentials,
} from "./oauth_grants.ts";

type Context = Readonly<Record<string, string>>;

/** What clients know in advance, by the scenarios in which they know anything. */
const clients: Readonly<Record<string, (context: Context) => OAuthClient>> = {
  "auth/pre-registration": ({ client_id, client_secret }) =>
    oauthClient({ registered: { client_id, client_secret } }),
  "auth/client-credentials-basic": ({ client_id, client_secret }) =>
    oauthClient({
      registered: { client_id, client_secret },
      grant: clientCredentials(),
    }),
  "auth/client-credentials-jwt": ({ client_id, private_key_pem }) =>
    oauthClient({
      registered: { client_id },
      grant: signedCredentials(client_id!, private_key_pem!),
    }),
  "auth/cross-app-access-complete-flow": (context) =>
    oauthClient({
      registered: {
        client_id: context.client_id,
        client_secret: context.client_secret,
      },
      grant: companyGrant({
        idToken: context.idp_id_token!,
        clientId: context.idp_client_id!,
        tokenEndpoint: context.idp_token_endpoint!,
      }),
    }),
};

const scenario = env.MCP_CONFORMANCE_SCENARIO ?? "";
const context: Context = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const client = clients[scenario]?.(context) ?? oauthClient();

const handler = new McpToolHandler({
  servers: { judge: { url: argv.at(-1)!, authProvider: client } },
  // Without content, so that the defaults of the form are all there is.
  onElicit: () => ({ action: "accept", content: {} }),
});
await handler.startup();
await authorize();
for (const name of handler.toolNames) await call(name);
const { status, error } = handler.serverStatus("judge")!;
await handler.shutdown();
if (status !== "connected") throw new Error(error ?? status);

/** Gives up after two attempts, as one scenario never lets anybody in. */
async function authorize(): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    if (handler.serverStatus("judge")?.status !== "needs_auth") return;
    await handler.finishAuth("judge", client.takeCode()).catch(() => {});
  }
}

async function call(name: string): Promise<void> {
  const args = name.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
  try {
    await handler.dispatch(name, args);
  } catch (error) {
    if (handler.serverStatus("judge")?.status !== "needs_auth") throw error;
    await authorize();
    await handler.dispatch(name, args);
  }
}
