/* expression.c - a parser that descends by precedence, and the tree that it makes. */
#include "tune/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define DEEPEST 100 /* parentheses and signs in each other */

enum node_kind { NODE_NUMBER, NODE_NAME, NODE_NEGATE, NODE_NOT, NODE_BINARY };

/* OPERATOR(name, text, precedence); a text that begins like another stands before it */
#define OPERATORS(OPERATOR)         \
	OPERATOR(OR, "or", 1)       \
	OPERATOR(OR_C, "||", 1)     \
	OPERATOR(AND, "and", 2)     \
	OPERATOR(AND_C, "&&", 2)    \
	OPERATOR(EQUAL, "==", 4)    \
	OPERATOR(UNEQUAL, "!=", 4)  \
	OPERATOR(AT_MOST, "<=", 4)  \
	OPERATOR(AT_LEAST, ">=", 4) \
	OPERATOR(LESS, "<", 4)      \
	OPERATOR(MORE, ">", 4)      \
	OPERATOR(ADD, "+", 5)       \
	OPERATOR(SUBTRACT, "-", 5)  \
	OPERATOR(MULTIPLY, "*", 6)  \
	OPERATOR(DIVIDE, "/", 6)    \
	OPERATOR(REMAINDER, "%", 6)

#define OPERATOR_CONSTANT(name, text, precedence) OPERATOR_##name,
enum operator{ OPERATORS(OPERATOR_CONSTANT) OPERATOR_COUNT };
#undef OPERATOR_CONSTANT

static const struct {
	const char *text;
	int precedence;
} operators[] = {
#define OPERATOR_ROW(name, text, precedence) {text, precedence},
	OPERATORS(OPERATOR_ROW)
#undef OPERATOR_ROW
};

#define LEAST_PRECEDENCE 1
#define COMPARISON_PRECEDENCE 4
#define SIGN_PRECEDENCE 7 /* of - before a value */
#define NOT_PRECEDENCE 3  /* "not a < b" denies the comparison, as in Python */

struct node {
	enum node_kind kind;
	enum operator operator;
	int64_t number;	    /* of NODE_NAME: its index */
	size_t left, right; /* nodes[] */
};

struct expression {
	struct node *nodes;
	size_t count, capacity;
	size_t root;
};

struct parser {
	struct expression *expression;
	const char *text, *at;
	const char *const *names;
	size_t name_count;
	int depth;
	struct err *err;
};

/* ---- words ---- */

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool is_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Takes the word where it stands next; one of letters only where no further letter follows. */
static bool take(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(parser);
	if (strncmp(parser->at, word, length))
		return false;
	if (is_name_character(word[0]) && is_name_character(parser->at[length]))
		return false;
	parser->at += length;
	return true;
}

static int fail(struct parser *parser, const char *what)
{
	return err_set(parser->err, -EINVAL, "'%s': %s at '%s'", parser->text, what,
		       *parser->at ? parser->at : "the end");
}

/* ---- the tree ---- */

static int add_node(struct parser *parser, struct node node, size_t *out)
{
	struct expression *expression = parser->expression;
	struct node *added = ARRAY_NEXT(expression->nodes, expression->capacity, expression->count);

	if (!added)
		return err_set(parser->err, -ENOMEM, "out of memory");
	*added = node;
	*out = expression->count++;
	return 0;
}

static int parse_binary(struct parser *parser, int least, size_t *out);

static int parse_number(struct parser *parser, size_t *out)
{
	char *end;
	int64_t number;

	errno = 0;
	number = strtoll(parser->at, &end, 10);
	if (errno)
		return fail(parser, "a number that is too large");
	if (is_name_character(*end) || *end == '.')
		return fail(parser, "no whole number");
	parser->at = end;
	return add_node(parser, (struct node){.kind = NODE_NUMBER, .number = number}, out);
}

static int parse_name(struct parser *parser, size_t *out)
{
	size_t length = 0;

	while (is_name_character(parser->at[length]))
		length++;
	for (size_t i = 0; i < parser->name_count; i++)
		if (strlen(parser->names[i]) == length &&
		    !strncmp(parser->names[i], parser->at, length)) {
			parser->at += length;
			return add_node(parser,
					(struct node){.kind = NODE_NAME, .number = (int64_t)i},
					out);
		}
	return fail(parser, "no parameter with numbers of that name");
}

static int parse_unary(struct parser *parser, enum node_kind kind, int precedence, size_t *out)
{
	struct node node = {.kind = kind};
	int rc = parse_binary(parser, precedence, &node.left);

	return rc < 0 ? rc : add_node(parser, node, out);
}

static int parse_value(struct parser *parser, size_t *out)
{
	int rc;

	skip_blanks(parser);
	if (take(parser, "(")) {
		rc = parse_binary(parser, LEAST_PRECEDENCE, out);
		return rc < 0 || take(parser, ")") ? rc : fail(parser, "')' is missing");
	}
	if (take(parser, "-"))
		return parse_unary(parser, NODE_NEGATE, SIGN_PRECEDENCE, out);
	if (take(parser, "not"))
		return parse_unary(parser, NODE_NOT, NOT_PRECEDENCE, out);
	if (take(parser, "!"))
		return parse_unary(parser, NODE_NOT, SIGN_PRECEDENCE, out);
	if (isdigit((unsigned char)*parser->at))
		return parse_number(parser, out);
	if (is_name_character(*parser->at))
		return parse_name(parser, out);
	return fail(parser, "a number or a parameter is missing");
}

/* The next operator if it binds at least so tightly, or OPERATOR_COUNT. */
static enum operator take_operator(struct parser *parser, int least)
{
	for (int i = 0; i < OPERATOR_COUNT; i++)
		if (operators[i].precedence >= least && take(parser, operators[i].text))
			return (enum operator)i;
	return OPERATOR_COUNT;
}

static int parse_binary(struct parser *parser, int least, size_t *out)
{
	enum operator operator;
	bool is_compared = false;
	int rc;

	if (++parser->depth > DEEPEST)
		return fail(parser, "too deep");
	rc = parse_value(parser, out);
	while (rc == 0 && (operator= take_operator(parser, least)) != OPERATOR_COUNT) {
		struct node node = {.kind = NODE_BINARY, .operator= operator, .left = * out };
		bool is_comparison = operators[operator].precedence == COMPARISON_PRECEDENCE;

		if (is_comparison && is_compared)
			return fail(parser, "two comparisons in a row, which 'and' has to join,");
		is_compared = is_comparison;
		rc = parse_binary(parser, operators[operator].precedence + 1, &node.right);
		if (rc == 0)
			rc = add_node(parser, node, out);
	}
	parser->depth--;
	return rc;
}

int expression_parse(struct expression **out, const char *text, const char *const *names,
		     size_t name_count, struct err *err)
{
	struct parser parser = {.text = text, .at = text, .names = names, .err = err};
	int rc;

	parser.name_count = name_count;
	*out = parser.expression = calloc(1, sizeof(**out));
	if (!*out)
		return err_set(err, -ENOMEM, "out of memory");
	rc = parse_binary(&parser, LEAST_PRECEDENCE, &(*out)->root);
	skip_blanks(&parser);
	if (rc == 0 && *parser.at)
		rc = fail(&parser, "no operator");
	if (rc < 0) {
		expression_free(*out);
		*out = NULL;
	}
	return rc;
}

/* ---- the value ---- */

static int divide(enum operator operator, int64_t left, int64_t right, int64_t *result)
{
	if (right == 0 || (left == INT64_MIN && right == -1))
		return -EDOM;
	*result = operator== OPERATOR_DIVIDE ? left / right : left % right;
	return 0;
}

static int combine(enum operator operator, int64_t left, int64_t right, int64_t *result)
{
	switch (operator) {
	case OPERATOR_EQUAL:
		*result = left == right;
		return 0;
	case OPERATOR_UNEQUAL:
		*result = left != right;
		return 0;
	case OPERATOR_AT_MOST:
		*result = left <= right;
		return 0;
	case OPERATOR_AT_LEAST:
		*result = left >= right;
		return 0;
	case OPERATOR_LESS:
		*result = left < right;
		return 0;
	case OPERATOR_MORE:
		*result = left > right;
		return 0;
	case OPERATOR_ADD:
		return __builtin_add_overflow(left, right, result) ? -EDOM : 0;
	case OPERATOR_SUBTRACT:
		return __builtin_sub_overflow(left, right, result) ? -EDOM : 0;
	case OPERATOR_MULTIPLY:
		return __builtin_mul_overflow(left, right, result) ? -EDOM : 0;
	default:
		return divide(operator, left, right, result);
	}
}

static int evaluate(const struct expression *expression, size_t index, const int64_t *values,
		    int64_t *result)
{
	const struct node *node = &expression->nodes[index];
	bool is_or = node->operator== OPERATOR_OR || node->operator== OPERATOR_OR_C;
	bool is_and = node->operator== OPERATOR_AND || node->operator== OPERATOR_AND_C;
	int64_t left = 0, right = 0;
	int rc;

	if (node->kind == NODE_NUMBER || node->kind == NODE_NAME) {
		*result = node->kind == NODE_NAME ? values[node->number] : node->number;
		return 0;
	}
	rc = evaluate(expression, node->left, values, &left);
	if (rc < 0)
		return rc;
	if (node->kind == NODE_NEGATE)
		return __builtin_sub_overflow((int64_t)0, left, result) ? -EDOM : 0;
	*result = node->kind == NODE_NOT ? !left : !!left;
	if (node->kind == NODE_NOT || (is_or && left) || (is_and && !left))
		return 0;
	rc = evaluate(expression, node->right, values, &right);
	*result = !!right;
	return rc < 0 || is_or || is_and ? rc : combine(node->operator, left, right, result);
}

int expression_evaluate(const struct expression *expression, const int64_t *values, int64_t *result)
{
	return evaluate(expression, expression->root, values, result);
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	free(expression->nodes);
	free(expression);
}
