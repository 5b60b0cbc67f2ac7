#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Parses mails with Python's email package: `parse_mail.py FILE...` prints a line of JSON for each file."""
import email
import email.policy
import json
import sys


def defects_of(message):
    """The parser's names of the defects in headers and parts."""
    found = [type(d).__name__ for d in message.defects]
    for value in message.values():
        found += [type(d).__name__ for d in getattr(value, 'defects', [])]
    for part in message.iter_parts() if message.is_multipart() else []:
        found += defects_of(part)
    return found


def parsed(content):
    message = email.message_from_bytes(content, policy=email.policy.default)
    text, html = message.get_body(('plain',)), message.get_body(('html',))
    sender, to = message['From'].addresses[0], message['To'].addresses
    return {
        'headers': [name for name in message.keys()],
        'from': sender.addr_spec,
        'from_name': sender.display_name,
        'to': [a.addr_spec for a in to],
        'subject': str(message['Subject']),
        'date': message['Date'].datetime.isoformat(),
        'message_id': str(message['Message-ID']),
        'type': message.get_content_type(),
        'text': text.get_content() if text else None,
        'html': html.get_content() if html else None,
        'defects': defects_of(message),
        'ascii': all(b < 128 for b in content),
        'longest_line': max(len(line) for line in content.split(b'\r\n')),
        'bare_line_ends': sum(content.replace(b'\r\n', b'').count(end) for end in (b'\n', b'\r')),
    }


if __name__ == '__main__':
    for name in sys.argv[1:]:
        with open(name, 'rb') as file:
            print(json.dumps(parsed(file.read())))
