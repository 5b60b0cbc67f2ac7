// SPDX-License-Identifier: Apache-2.0
// /docs: replaces the plain listing of the page with Swagger UI.
const listing = document.getElementById('api');
const ui = document.createElement('div');
ui.id = 'swagger-ui';
listing.replaceWith(ui);
globalThis.SwaggerUIBundle({
  url: 'openapi.json',
  domNode: ui,
  deepLinking: true,
  // No data leaves this server: no online validator, no saved credentials.
  validatorUrl: null,
  persistAuthorization: false,
});
