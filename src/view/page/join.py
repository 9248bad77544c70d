# SPDX-License-Identifier: GPL-2.0-only
# join.py PAGE STYLE SCRIPT LICENCE DIR...: prints the page with its style sheet and script, which
# are the only ones that its Content-Security-Policy lets a browser apply, with its licence, and
# with those of the packages in each DIR.
import base64
import hashlib
import json
import pathlib
import sys


def source(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def licence(directory):
    package = json.loads((directory / 'package.json').read_text())
    return f"{package['name']} {package['version']}\n\n{(directory / 'LICENSE').read_text()}"


page, style, script, own = (pathlib.Path(name).read_text() for name in sys.argv[1:5])
licences = '\n\n'.join([f'This page is LGPL-2.1-only OR BSD-2-Clause:\n\n{own}'] +
                       [licence(pathlib.Path(name)) for name in sys.argv[5:]])
style, script = style.strip(), script.strip()
for text in (style, script, licences):
    assert '</s' not in text.lower() and '<!--' not in text, 'a text would end its element'
parts = {
    'policy': "default-src 'none'; script-src " + source(script) + '; style-src ' + source(style) +
              "; base-uri 'none'; form-action 'none'",
    'style': style,
    'licences': licences,
    'script': script,
}
for name, text in parts.items():
    place = f'@page:{name}@'
    assert page.count(place) == 1, place
    page = page.replace(place, text)
sys.stdout.write(page)
