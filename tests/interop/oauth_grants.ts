import type { McpOAuthProvider } from "../../src/mcp/mod.ts";

/** How a client without a user gets tokens. */
export type OAuthGrant = Partial<McpOAuthProvider>;

/** Asks for tokens in its own name. */
export function clientCredentials(): OAuthGrant {
  return {
    redirectUrl: undefined,
    prepareTokenRequest: (scope) => tokenRequest("client_credentials", scope),
  };
}

/** The same, with a signature instead of a secret. */
export function signedCredentials(
  clientId: string,
  privateKeyPem: string,
): OAuthGrant {
  return {
    ...clientCredentials(),
    async addClientAuthentication(_headers, params, url, metadata) {
      const assertion = await signedAssertion(clientId, {
        audience: metadata?.issuer ?? String(url),
        privateKeyPem,
      });
      params.set(
        "client_assertion_type",
        `${urn}:client-assertion-type:jwt-bearer`,
      );
      params.set("client_assertion", assertion);
    },
  };
}

/** What a user's company knows of the user, and where it is changed for a grant. */
export interface CompanyIdentity {
  readonly idToken: string;
  readonly clientId: string;
  readonly tokenEndpoint: string;
}

/**
 * Lets the user's company vouch for the user: its identity token becomes a grant, and the
 * grant a token of the server's own authorization server.
 */
export function companyGrant(company: CompanyIdentity): OAuthGrant {
  let found: Discovery | undefined;
  return {
    redirectUrl: undefined,
    saveDiscoveryState: (state: Discovery) => void (found = state),
    discoveryState: () => found,
    async prepareTokenRequest(scope) {
      const request = tokenRequest(`${urn}:grant-type:jwt-bearer`, scope);
      request.set("assertion", await exchange(company, found!));
      return request;
    },
  };
}

const urn = "urn:ietf:params:oauth";

interface Discovery {
  readonly authorizationServerUrl: string;
  readonly resourceMetadata?: { readonly resource: string };
}

/** @see RFC 8693, token exchange. */
async function exchange(
  { idToken, clientId, tokenEndpoint }: CompanyIdentity,
  { authorizationServerUrl, resourceMetadata }: Discovery,
): Promise<string> {
  const request = tokenRequest(`${urn}:grant-type:token-exchange`);
  request.set("requested_token_type", `${urn}:token-type:id-jag`);
  request.set("subject_token", idToken);
  request.set("subject_token_type", `${urn}:token-type:id_token`);
  request.set("audience", authorizationServerUrl);
  request.set("resource", resourceMetadata?.resource ?? "");
  request.set("client_id", clientId);
  const response = await fetch(tokenEndpoint, {
    method: "POST",
    body: request,
  });
  const { access_token } = await response.json() as { access_token: string };
  return access_token;
}

function tokenRequest(grantType: string, scope?: string): URLSearchParams {
  const request = new URLSearchParams({ grant_type: grantType });
  if (scope) request.set("scope", scope);
  return request;
}

/** @see RFC 7523, JWT for client authentication. */
async function signedAssertion(
  clientId: string,
  { audience, privateKeyPem }: {
    readonly audience: string;
    readonly privateKeyPem: string;
  },
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    iat: now,
    exp: now + 300,
    jti: crypto.randomUUID(),
  };
  const signed = `${jsonPart({ alg: "ES256", typ: "JWT" })}.${
    jsonPart(claims)
  }`;
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    await signingKey(privateKeyPem),
    new TextEncoder().encode(signed),
  );
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

async function signingKey(pem: string): Promise<CryptoKey> {
  const base64 = pem.replace(/-----[A-Z ]+-----|\s/g, "");
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  return await crypto.subtle.importKey("pkcs8", bytes, curve, false, ["sign"]);
}

function jsonPart(value: object): string {
  return base64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
