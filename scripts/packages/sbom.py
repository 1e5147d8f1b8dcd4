# SPDX-License-Identifier: MIT
"""Lists of what a package contains, in SPDX 2.3 as JSON."""
import hashlib
import json
import re
import time
import uuid


def document(name, content, version, parts, epoch):
    """The list for the package with this file name and these bytes. parts: (name, version, licence) of each library
    inside; their versions are those of Debian's source packages."""
    digest = hashlib.sha256(content).hexdigest()
    document_id = uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {digest}")

    def package(identifier, name, version, licence, **more):
        return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
                "copyrightText": "NOASSERTION", "supplier": "NOASSERTION", **more}

    packages = [package("SPDXRef-Package", "vouch", version, "MIT", packageFileName=name,
                        checksums=[{"algorithm": "SHA256", "checksumValue": digest}])]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package")]
    for part, part_version, licence in parts:
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{part}-{part_version}")
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                     "referenceLocator": f"pkg:deb/debian/{part}@{part_version.replace('+', '%2B')}?arch=source"}
        packages.append(package(identifier, part, part_version, licence, externalRefs=[reference]))
        relations.append(("SPDXRef-Package", "CONTAINS", identifier))
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"urn:uuid:{document_id}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                         "creators": [f"Tool: vouch-release-{version}"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
    }, indent=1) + "\n"
