/* FairQueue, Apache-2.0 */
/* altcha: MIT License

Copyright (c) 2023 Daniel Regeci, BAU Software s.r.o.

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE. */
(function(){"use strict";let p=new TextEncoder;function d(e){return[...new Uint8Array(e)].map(t=>t.toString(16).padStart(2,"0")).join("")}async function w(e,t,r){if(typeof crypto>"u"||!("subtle"in crypto)||!("digest"in crypto.subtle))throw new Error("Web Crypto is not available. Secure context is required (https://developer.mozilla.org/en-US/docs/Web/Security/Secure_Contexts).");return d(await crypto.subtle.digest(r.toUpperCase(),p.encode(e+t)))}function b(e,t,r="SHA-256",o=1e6,c=0){let n=new AbortController,a=Date.now();return{promise:(async()=>{for(let l=c;l<=o;l+=1){if(n.signal.aborted)return null;if(await w(t,l,r)===e)return{number:l,took:Date.now()-a}}return null})(),controller:n}}function g(e){let t=atob(e),r=new Uint8Array(t.length);for(let o=0;o<t.length;o++)r[o]=t.charCodeAt(o);return r}function m(e,t=12){let r=new Uint8Array(t);for(let o=0;o<t;o++)r[o]=e%256,e=Math.floor(e/256);return r}async function h(e,t="",r=1e6,o=0){let c="AES-GCM",n=new AbortController,a=Date.now(),l=async()=>{for(let i=o;i<=r;i+=1){if(n.signal.aborted||!s||!y)return null;try{let f=await crypto.subtle.decrypt({name:c,iv:m(i)},s,y);if(f)return{clearText:new TextDecoder().decode(f),took:Date.now()-a}}catch{}}return null},s=null,y=null;try{y=g(e);let i=await crypto.subtle.digest("SHA-256",p.encode(t));s=await crypto.subtle.importKey("raw",i,c,!1,["decrypt"])}catch{return{promise:Promise.reject(),controller:n}}return{promise:l(),controller:n}}let u;onmessage=async e=>{let{type:t,payload:r,start:o,max:c}=e.data,n=null;if(t==="abort")u?.abort(),u=void 0;else if(t==="work"){if("obfuscated"in r){let{key:a,obfuscated:l}=r||{};n=await h(l,a,c,o)}else{let{algorithm:a,challenge:l,salt:s}=r||{};n=b(l,s,a,c,o)}u=n.controller,n.promise.then(a=>{self.postMessage(a&&{...a,worker:!0})})}}})();
