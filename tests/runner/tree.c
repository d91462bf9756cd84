#include "runner/tree.h"

#include <string.h>

#include "base/json.h"

struct maker {
	struct tree *tree;
	unsigned line;
};

static struct node *make(struct maker *m, json_t *value, struct node *parent);

static struct node *new_node(struct maker *m, enum node_kind kind, struct node *parent)
{
	struct node *n = tree_alloc(m->tree, sizeof(*n));

	n->kind = kind;
	n->parent = parent;
	n->at = (struct position){++m->line, 1};
	return n;
}

static struct text copy(struct maker *m, struct text t)
{
	char *bytes = tree_alloc(m->tree, t.len + 1);

	if (t.len > 0)
		memcpy(bytes, t.p, t.len);
	return (struct text){bytes, t.len};
}

static void append(struct node *parent, struct node *child)
{
	child->index = parent->n++;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

static struct node *make_mapping(struct maker *m, json_t *object, struct node *parent)
{
	struct node *n = new_node(m, NODE_MAPPING, parent);
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		struct node *key = new_node(m, NODE_SCALAR, n);
		key->text = copy(m, text_of(name));
		key->value = make(m, value, n);
		key->value->key = key;
		append(n, key);
	}
	return n;
}

static struct node *make_sequence(struct maker *m, json_t *array, struct node *parent)
{
	struct node *n = new_node(m, NODE_SEQUENCE, parent);
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item) append(n, make(m, item, n));
	return n;
}

static struct node *make(struct maker *m, json_t *value, struct node *parent)
{
	if (json_is_object(value))
		return make_mapping(m, value, parent);
	if (json_is_array(value))
		return make_sequence(m, value, parent);
	struct node *n = new_node(m, NODE_SCALAR, parent);
	n->plain = !json_is_string(value);
	if (!n->plain) {
		n->text = copy(m, json_text(value));
		return n;
	}
	char *word = json_dumps(value, JSON_ENCODE_ANY);
	n->text = copy(m, text_of(word));
	free(word);
	return n;
}

void tree_of_json(json_t *value, struct tree *tree)
{
	struct maker m = {.tree = tree};

	tree->root = make(&m, value, NULL);
}
