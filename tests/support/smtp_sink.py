#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An SMTP server (Debian's python3-aiosmtpd) that stores accepted messages; addresses script its refusals.

  smtp_sink.py MAILBOX [--certificate PEM --key PEM [--smtps]] [--login USER:PASSWORD]
               [--greeting REPLY] [--port N] [--delay SECONDS]

Listens on 127.0.0.1, prints its port and ends with its standard input. With a certificate it requires
STARTTLS (--smtps: TLS from the first byte); without one it has no TLS. With --greeting it sends REPLY only.
With --delay it answers the end of each message that much later.
Each stored message is a line of JSON in MAILBOX: {connection, tls, user, from, to, mail}; `mail`: see
parse_mail.py.

The local part of an address, up to the first +, scripts the answer:

  mail-CODE   a sender: MAIL is answered with CODE
  rcpt-CODE   a recipient: RCPT is answered with CODE
  data-CODE   the first recipient: DATA is answered with CODE
  data-hang   the first recipient: DATA is not answered
  data-drop   the first recipient: the connection closes after the message
  data-lost   the first recipient: the message is stored, DATA is not answered
"""
import argparse
import asyncio
import json
import ssl
import sys

try:
    from aiosmtpd.smtp import SMTP, AuthResult
except ImportError:
    sys.exit('smtp_sink: the package python3-aiosmtpd is missing; scripts/setup installs it')
from parse_mail import parsed


def told(address, stage):
    """The scripted answer of the address at this stage, or None."""
    local = address.split('@')[0].split('+')[0]
    return local[len(stage) + 1:] if local.startswith(f'{stage}-') else None


class Sink:
    def __init__(self, mailbox, delay):
        self.mailbox = mailbox
        self.delay = delay

    async def handle_MAIL(self, server, session, envelope, address, options):
        if code := told(address, 'mail'):
            return f'{code} 5.7.1 {address} may not send'
        envelope.mail_from = address
        return '250 OK'

    async def handle_RCPT(self, server, session, envelope, address, options):
        if code := told(address, 'rcpt'):
            return f'{code} {code[0]}.1.1 <{address}>: refused'
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):
        what = told(envelope.rcpt_tos[0], 'data')
        await asyncio.sleep(self.delay)
        if what == 'hang':
            await asyncio.sleep(3600)
        if what == 'drop':
            server.transport.abort()
            return ''
        if what is None or what == 'lost':
            self.keep(server, session, envelope)
        if what == 'lost':
            await asyncio.sleep(3600)
        return '250 kept' if what is None else f'{what} {what[0]}.7.0 no'

    def keep(self, server, session, envelope):
        line = {
            'connection': server.number,
            'tls': session.ssl is not None or server.implicit,
            'user': session.auth_data.decode() if session.auth_data else None,
            'from': envelope.mail_from,
            'to': envelope.rcpt_tos,
            'mail': parsed(envelope.content),
        }
        with open(self.mailbox, 'a') as file:
            file.write(json.dumps(line) + '\n')


def authenticator(login):
    def check(server, session, envelope, mechanism, data):
        given = b':'.join([data.login, data.password])
        if given == login.encode():
            return AuthResult(success=True, auth_data=data.login)
        return AuthResult(success=False, handled=False)

    return check


async def serve(options):
    loop = asyncio.get_running_loop()
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    count = 0

    def session():
        nonlocal count
        count += 1
        more = {}
        if options.login:
            more = {
                'authenticator': authenticator(options.login),
                'auth_required': True,
                'auth_require_tls': bool(context) and not options.smtps,
            }
        if context and not options.smtps:
            more |= {'tls_context': context, 'require_starttls': True}
        protocol = SMTP(Sink(options.mailbox, options.delay), hostname='sink.example', loop=loop, **more)
        protocol.number = count
        protocol.implicit = options.smtps
        return protocol

    async def greet(reader, writer):
        writer.write(options.greeting.encode() + b'\r\n')
        await writer.drain()
        await reader.read()

    if options.greeting:
        server = await asyncio.start_server(greet, '127.0.0.1', options.port)
    else:
        server = await loop.create_server(
            session, '127.0.0.1', options.port, ssl=context if options.smtps else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('mailbox')
    for name in ('--certificate', '--key', '--login', '--greeting'):
        parser.add_argument(name)
    parser.add_argument('--smtps', action='store_true')
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--delay', type=float, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == '__main__':
    main()
