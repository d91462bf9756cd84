#include "image/reference.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "image/host.h"
#include "image/repository.h"

/*
 * The text and its pieces while it is judged. Views into the text, so that the place of a fault is
 * the difference of two pointers.
 */
struct parts {
	struct text whole;
	struct registry_parts registry; /* host.p = NULL: the text names none */
	struct text path;               /* the repository as written */
	struct text tag;
	struct text digest;
};

/* A fault of the whole text. */
static int malformed(struct error *err, enum error_code code, struct text whole, const char *fact)
{
	return error_set(err, code, "malformed image reference %s: %s", quoted(whole), fact);
}

/* A fault that begins at one byte. */
static int malformed_at(struct error *err, enum error_code code, struct text whole,
	const char *where, const char *fact)
{
	return error_set(err, code, "malformed image reference %s: %s at byte %zu", quoted(whole),
		fact, (size_t)(where - whole.p));
}

static struct text between(const char *from, const char *to)
{
	return (struct text){from, (size_t)(to - from)};
}

static const char *find_byte(struct text t, char c)
{
	return t.p ? memchr(t.p, c, t.len) : NULL;
}

static const char *find_last(struct text t, char c)
{
	return t.p ? memrchr(t.p, c, t.len) : NULL;
}

static int check_bytes(struct text t, struct error *err)
{
	if (t.len == 0)
		return malformed(err, ERROR_IMAGE_REF_EMPTY, t, "it is empty");
	if (t.len > IMAGE_TEXT_MAX)
		return malformed(err, ERROR_IMAGE_REF_TOO_LONG, t, "it is longer than 512 bytes");
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.p[i];
		if (c >= 0x80)
			return malformed_at(err, ERROR_IMAGE_REF_NOT_ASCII, t, t.p + i,
				"a byte that is not ASCII");
		if (c < 0x21 || c == 0x7f)
			return malformed_at(err, ERROR_IMAGE_REF_BAD_BYTE, t, t.p + i,
				"a blank or control character");
	}
	if (t.p[0] == '-')
		return malformed_at(
			err, ERROR_IMAGE_REF_LEADING_DASH, t, t.p, "it begins with a dash");
	const char *scheme = memmem(t.p, t.len, "://", 3);
	if (scheme)
		return malformed_at(err, ERROR_IMAGE_REF_HAS_SCHEME, t, scheme, "a scheme");
	return 0;
}

bool image_digest_valid(struct text t)
{
	if (text_starts(t, "sha256:"))
		return text_is_hex(text_after(t, 7), 64);
	return text_starts(t, "sha512:") && text_is_hex(text_after(t, 7), 128);
}

/* Takes the digest off the end of *rest. */
static int take_digest(struct parts *p, struct text *rest, struct error *err)
{
	const char *at = find_byte(*rest, '@');

	if (!at)
		return 0;
	p->digest = between(at + 1, rest->p + rest->len);
	*rest = between(rest->p, at);
	if (!image_digest_valid(p->digest)) {
		malformed_at(err, ERROR_IMAGE_REF_BAD_DIGEST, p->whole, at + 1, "no digest");
		if (text_has_byte(p->digest, '/'))
			error_set_remedy(err, "write the reference without user and password: they "
					      "belong into the engine's login");
		return -1;
	}
	if (rest->len == 0)
		return malformed_at(
			err, ERROR_IMAGE_REF_NO_REPOSITORY, p->whole, at, "no repository");
	return 0;
}

static bool tag_valid(struct text t)
{
	return t.len >= 1 && t.len <= IMAGE_TAG_MAX && ascii_word(t.p[0], "_") &&
	       text_all_word(t, "._-");
}

/* Takes the tag off the end of *rest. */
static int take_tag(struct parts *p, struct text *rest, struct error *err)
{
	const char *colon = find_last(*rest, ':'), *slash = find_last(*rest, '/');

	if (!colon || (slash && slash > colon))
		return 0;
	p->tag = between(colon + 1, rest->p + rest->len);
	*rest = between(rest->p, colon);
	if (!tag_valid(p->tag))
		return malformed_at(
			err, ERROR_IMAGE_REF_BAD_TAG, p->whole, colon + 1, "no valid tag");
	if (rest->len == 0)
		return malformed_at(
			err, ERROR_IMAGE_REF_NO_REPOSITORY, p->whole, colon, "no repository");
	return 0;
}

/* Takes the registry off the front of *rest, if the text names one. */
static int take_registry(struct parts *p, struct text *rest, struct error *err)
{
	const char *slash = find_byte(*rest, '/');
	struct text first = slash ? between(rest->p, slash) : (struct text){NULL, 0};

	if (!registry_named(first))
		return 0;
	*rest = between(slash + 1, rest->p + rest->len);
	switch (registry_split(first, &p->registry)) {
	case REGISTRY_BAD_HOST:
		return malformed_at(
			err, ERROR_IMAGE_REF_BAD_HOST, p->whole, first.p, "no valid registry host");
	case REGISTRY_BAD_PORT:
		return malformed_at(err, ERROR_IMAGE_REF_BAD_PORT, p->whole, p->registry.port.p,
			"no valid port");
	case REGISTRY_OK:
		break;
	}
	return 0;
}

static int check_repository(const struct parts *p, struct error *err)
{
	const char *where = NULL;

	switch (repository_judge(p->path, &where)) {
	case REPOSITORY_UPPERCASE:
		return malformed_at(err, ERROR_IMAGE_REF_UPPERCASE, p->whole, where,
			"an upper-case letter in the repository component");
	case REPOSITORY_BAD:
		return malformed_at(err, ERROR_IMAGE_REF_BAD_REPOSITORY, p->whole, where,
			"no valid repository component");
	case REPOSITORY_OK:
		break;
	}
	return 0;
}

/* Room for the normal form of any text of at most IMAGE_TEXT_MAX bytes. */
struct normal_name {
	char registry[IMAGE_TEXT_MAX + 1];
	char repository[IMAGE_TEXT_MAX + sizeof("library/")];
};

static void normalize(const struct parts *p, struct normal_name *ret)
{
	const struct registry_parts *r = &p->registry;
	bool official = r->host.p && registry_is_hub(r) && !text_has_byte(p->path, '/');

	if (r->host.p)
		registry_normalize(r, ret->registry);
	else
		ret->registry[0] = '\0';
	snprintf(ret->repository, sizeof(ret->repository), "%s%.*s", official ? "library/" : "",
		(int)p->path.len, p->path.p);
}

static bool is_image_id(const struct parts *p)
{
	return !p->registry.host.p && (text_is_hex(p->path, 64) || text_is(p->path, "sha256") ||
					      text_is(p->path, "sha512"));
}

static size_t name_length(const struct normal_name *n)
{
	size_t registry = strlen(n->registry);

	return registry + (registry ? 1 : 0) + strlen(n->repository);
}

/* Lengths of the name and of everything with tag and digest. */
static int check_lengths(
	size_t name, size_t tag, size_t digest, struct text whole, struct error *err)
{
	if (name > IMAGE_NAME_MAX)
		return malformed(err, ERROR_IMAGE_REF_NAME_TOO_LONG, whole,
			"registry and repository are longer than 255 bytes");
	if (name + (tag ? 1 + tag : 0) + (digest ? 1 + digest : 0) > IMAGE_TEXT_MAX)
		return malformed(err, ERROR_IMAGE_REF_TOO_LONG, whole,
			"its normal form is longer than 512 bytes");
	return 0;
}

/* Lengths of the text as given and of the normal form, then image IDs. */
static int check_whole(const struct parts *p, const struct normal_name *n, struct error *err)
{
	size_t given = (size_t)(p->path.p + p->path.len - p->whole.p), name = name_length(n);

	if (check_lengths(given > name ? given : name, p->tag.len, p->digest.len, p->whole, err) <
		0)
		return -1;
	if (is_image_id(p))
		return malformed(err, ERROR_IMAGE_REF_IMAGE_ID, p->whole, "it is an image ID");
	return 0;
}

static void copy_text(char *out, struct text t)
{
	if (t.len)
		memcpy(out, t.p, t.len);
	out[t.len] = '\0';
}

int image_reference_parse(struct text t, struct image_reference *ret, struct error *err)
{
	struct parts p = {.whole = t};
	struct normal_name name;
	struct text rest = t;

	if (check_bytes(t, err) < 0 || take_digest(&p, &rest, err) < 0 ||
		take_tag(&p, &rest, err) < 0 || take_registry(&p, &rest, err) < 0)
		return -1;
	p.path = rest;
	if (check_repository(&p, err) < 0)
		return -1;
	normalize(&p, &name);
	if (check_whole(&p, &name, err) < 0)
		return -1;
	copy_text(ret->registry, text_of(name.registry));
	copy_text(ret->repository, text_of(name.repository));
	copy_text(ret->tag, p.tag);
	copy_text(ret->digest, p.digest);
	ret->qualified = p.registry.host.p != NULL;
	return 0;
}

int image_reference_qualify(
	struct image_reference *r, const char *registry, struct text written, struct error *err)
{
	struct registry_parts parts = {.host = text_of(registry)};
	bool official = registry_is_hub(&parts) && !strchr(r->repository, '/');
	struct normal_name name;

	assert(!*r->registry && strlen(registry) <= IMAGE_TEXT_MAX);
	snprintf(name.registry, sizeof(name.registry), "%s", registry);
	snprintf(name.repository, sizeof(name.repository), "%s%s", official ? "library/" : "",
		r->repository);
	if (check_lengths(name_length(&name), strlen(r->tag), strlen(r->digest), written, err) < 0)
		return -1;
	copy_text(r->registry, text_of(name.registry));
	copy_text(r->repository, text_of(name.repository));
	return 0;
}

/* Adds a piece; the limits of the parts keep every form within IMAGE_TEXT_MAX. */
static char *append(char *at, const char *end, const char *piece)
{
	size_t n = strlen(piece);

	assert((size_t)(end - at) >= n);
	memcpy(at, piece, n + 1);
	return at + n;
}

static void render(const struct image_reference *r, const char *tag, const char *digest, char *out)
{
	const char *const pieces[] = {r->registry, *r->registry ? "/" : "", r->repository,
		*tag ? ":" : "", tag, *digest ? "@" : "", digest};
	const char *end = out + IMAGE_TEXT_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		out = append(out, end, pieces[i]);
}

void image_reference_name(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1])
{
	render(r, "", "", out);
}

void image_reference_render(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1])
{
	render(r, r->tag, r->digest, out);
}

void image_reference_canonical(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1])
{
	out[0] = '\0';
	if (*r->digest)
		render(r, "", r->digest, out);
}

const char *image_reference_tag(const struct image_reference *r)
{
	return *r->tag ? r->tag : "latest";
}

void image_reference_run_as(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1])
{
	render(r, *r->digest ? "" : image_reference_tag(r), r->digest, out);
}

bool image_reference_same_name(const struct image_reference *a, const struct image_reference *b)
{
	return strcmp(a->registry, b->registry) == 0 && strcmp(a->repository, b->repository) == 0;
}
