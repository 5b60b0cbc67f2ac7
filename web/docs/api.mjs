// SPDX-License-Identifier: Apache-2.0
// /docs: puts Swagger UI in the place of the plain listing that the page brings along.
const listing = document.getElementById('api');
const ui = document.createElement('div');
ui.id = 'swagger-ui';
listing.replaceWith(ui);
globalThis.SwaggerUIBundle({
  url: 'openapi.json',
  domNode: ui,
  deepLinking: true,
  // Nothing leaves this server: no online validator, no saved credentials.
  validatorUrl: null,
  persistAuthorization: false,
});
