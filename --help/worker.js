/* FairQueue, Apache-2.0 */
addEventListener("install",()=>skipWaiting());async function a(n){let i=(await clients.matchAll({type:"window",includeUncontrolled:!0})).find(({url:t})=>new URL(t).pathname===n);return i?i.focus():clients.openWindow(n)}addEventListener("notificationclick",n=>{n.notification.close(),n.waitUntil(a(n.notification.data))});
