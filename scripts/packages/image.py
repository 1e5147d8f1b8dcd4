# SPDX-License-Identifier: MIT
"""A container image as a tar file in the OCI image layout, with one image for each processor."""
import hashlib
import json
import time

from .archive import Files, gz, tar

USERS = "vouch:x:65532:65532::/nonexistent:/sbin/nologin\n"


def write(trees, version, epoch):
    """The tar file's bytes. trees: files of the image for each architecture in OCI's names."""
    layout = Files()
    layout.add("oci-layout", '{"imageLayoutVersion": "1.0.0"}')

    def blob(kind, content):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        layout.add(f"blobs/sha256/{digest}", content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    manifests = []
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    for architecture, files in sorted(trees.items()):
        files = Files(files)
        files.add("etc/passwd", USERS)
        files.add("etc/group", "vouch:x:65532:\n")
        layer = tar(files, epoch)
        config = blob("config.v1+json", {
            "created": created, "architecture": architecture, "os": "linux",
            "config": {"User": "vouch", "ExposedPorts": {"8080/tcp": {}}, "StopSignal": "SIGTERM",
                       "Env": ["PATH=/usr/bin"],
                       "Entrypoint": ["/usr/bin/vouch", "serve", "--host", "0.0.0.0", "--port", "8080"],
                       "Labels": {"org.opencontainers.image.version": version,
                                  "org.opencontainers.image.licenses": "MIT"}},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            "history": [{"created": created, "created_by": "scripts/release"}]})
        manifest = blob("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
            "layers": [blob("layer.v1.tar+gzip", gz(layer))]})
        manifests.append({**manifest, "platform": {"architecture": architecture, "os": "linux"}})
    # All of them in one index under the version's name, as registries have them.
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}
    entry = {**blob("index.v1+json", index), "annotations": {"org.opencontainers.image.ref.name": version}}
    layout.add("index.json", json.dumps({"schemaVersion": 2, "manifests": [entry]}, sort_keys=True))
    return tar(layout, epoch)
