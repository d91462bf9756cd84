// forge makes what a certificate authority, a certificate log and a transparency log of sigstore
// make, with keys of a test, and signs images with it in the form that every cosign verifies (a
// manifest under the tag sha256-HEX.sig). Standard library only.
//
//	forge keys DIR                               all keys and the root certificate
//	forge sign DIR REPOSITORY DIGEST key         by the key, entered into the log
//	forge sign DIR REPOSITORY DIGEST ISSUER SUBJECT   by an identity of the authority
//
// sign prints {"payload", "annotations"}: the one layer of the signature's manifest.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "forge:", err)
		os.Exit(1)
	}
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func spki(k *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(&k.PublicKey)
	check(err)
	return der
}

func write(dir, name string, content []byte) {
	check(os.WriteFile(filepath.Join(dir, name), content, 0o644))
}

func makeKey(dir, name string) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	der, err := x509.MarshalECPrivateKey(k)
	check(err)
	write(dir, name+".pem", encodePEM("EC PRIVATE KEY", der))
	write(dir, name+".pub", encodePEM("PUBLIC KEY", spki(k)))
	return k
}

func readKey(dir, name string) *ecdsa.PrivateKey {
	content, err := os.ReadFile(filepath.Join(dir, name+".pem"))
	check(err)
	block, _ := pem.Decode(content)
	k, err := x509.ParseECPrivateKey(block.Bytes)
	check(err)
	return k
}

func signBytes(k *ecdsa.PrivateKey, b []byte) []byte {
	h := sha256.Sum256(b)
	s, err := ecdsa.SignASN1(rand.Reader, k, h[:])
	check(err)
	return s
}

func makeKeys(dir string) {
	for _, name := range []string{"signer", "log", "certificate-log"} {
		makeKey(dir, name)
	}
	k := makeKey(dir, "authority")
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, SubjectKeyId: []byte{1, 2, 3, 4},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	check(err)
	write(dir, "authority.crt", encodePEM("CERTIFICATE", der))
}

func readRoot(dir string) *x509.Certificate {
	content, err := os.ReadFile(filepath.Join(dir, "authority.crt"))
	check(err)
	block, _ := pem.Decode(content)
	root, err := x509.ParseCertificate(block.Bytes)
	check(err)
	return root
}

// leafTemplate is what Fulcio puts into a certificate of a CI's workflow.
func leafTemplate(issuer, subject string) *x509.Certificate {
	uri, err := url.Parse(subject)
	check(err)
	text, err := asn1.MarshalWithParams(issuer, "utf8")
	check(err)
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), URIs: []*url.URL{uri},
		NotBefore: time.Now().Add(-5 * time.Minute), NotAfter: time.Now().Add(5 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}, Value: []byte(issuer)},
			{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: text},
		},
	}
}

// timestamp is the log's promise about a certificate without the extension that will hold it.
func timestamp(log *ecdsa.PrivateKey, root *x509.Certificate, tbs []byte) []byte {
	now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))
	issuer := sha256.Sum256(root.RawSubjectPublicKeyInfo)
	signed := append([]byte{0, 0}, now...)
	signed = append(signed, 0, 1)
	signed = append(signed, issuer[:]...)
	signed = append(signed, byte(len(tbs)>>16), byte(len(tbs)>>8), byte(len(tbs)))
	signed = append(append(signed, tbs...), 0, 0)
	signature := signBytes(log, signed)
	id := sha256.Sum256(spki(log))
	sct := append(append([]byte{0}, id[:]...), now...)
	sct = append(sct, 0, 0, 4, 3)
	sct = append(binary.BigEndian.AppendUint16(sct, uint16(len(signature))), signature...)
	list := binary.BigEndian.AppendUint16(nil, uint16(len(sct)+2))
	list = append(binary.BigEndian.AppendUint16(list, uint16(len(sct))), sct...)
	der, err := asn1.Marshal(list)
	check(err)
	return der
}

func certify(dir, issuer, subject string, k *ecdsa.PrivateKey) []byte {
	root, authority := readRoot(dir), readKey(dir, "authority")
	template := leafTemplate(issuer, subject)
	der, err := x509.CreateCertificate(rand.Reader, template, root, &k.PublicKey, authority)
	check(err)
	before, err := x509.ParseCertificate(der)
	check(err)
	template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{
		Id:    asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2},
		Value: timestamp(readKey(dir, "certificate-log"), root, before.RawTBSCertificate)})
	der, err = x509.CreateCertificate(rand.Reader, template, root, &k.PublicKey, authority)
	check(err)
	return encodePEM("CERTIFICATE", der)
}

// enter is the transparency log's promise about a signature.
func enter(dir string, payload, signature, verifier []byte) string {
	log := readKey(dir, "log")
	hash, id := sha256.Sum256(payload), sha256.Sum256(spki(log))
	body, err := json.Marshal(map[string]any{
		"apiVersion": "0.0.1", "kind": "hashedrekord", "spec": map[string]any{
			"data": map[string]any{"hash": map[string]string{
				"algorithm": "sha256", "value": hex.EncodeToString(hash[:])}},
			"signature": map[string]any{"content": b64(signature),
				"publicKey": map[string]string{"content": b64(verifier)}}}})
	check(err)
	entry := map[string]any{"body": b64(body), "integratedTime": time.Now().Unix(),
		"logIndex": 1, "logID": hex.EncodeToString(id[:])}
	canonical, err := json.Marshal(entry) // keys of a map are sorted
	check(err)
	bundle, err := json.Marshal(map[string]any{
		"SignedEntryTimestamp": b64(signBytes(log, canonical)), "Payload": entry})
	check(err)
	return string(bundle)
}

func sign(dir, repository, digest string, who []string) {
	payload, err := json.Marshal(map[string]any{"critical": map[string]any{
		"identity": map[string]string{"docker-reference": repository},
		"image":    map[string]string{"docker-manifest-digest": digest},
		"type":     "cosign container image signature"}, "optional": nil})
	check(err)
	k := readKey(dir, "signer")
	annotations := map[string]string{}
	verifier := encodePEM("PUBLIC KEY", spki(k))
	if len(who) == 2 {
		k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		check(err)
		verifier = certify(dir, who[0], who[1], k)
		annotations["dev.sigstore.cosign/certificate"] = string(verifier)
		annotations["dev.sigstore.cosign/chain"] = string(encodePEM("CERTIFICATE", readRoot(dir).Raw))
	}
	signature := signBytes(k, payload)
	annotations["dev.cosignproject.cosign/signature"] = b64(signature)
	annotations["dev.sigstore.cosign/bundle"] = enter(dir, payload, signature, verifier)
	check(json.NewEncoder(os.Stdout).Encode(
		map[string]any{"payload": string(payload), "annotations": annotations}))
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "keys":
		makeKeys(os.Args[2])
	case len(os.Args) >= 6 && os.Args[1] == "sign":
		sign(os.Args[2], os.Args[3], os.Args[4], os.Args[5:])
	default:
		fmt.Fprintln(os.Stderr, "usage: forge keys DIR | sign DIR REPOSITORY DIGEST key|ISSUER SUBJECT")
		os.Exit(2)
	}
}
