package jq

// cost is the charge in front of a function, by its input.
type cost struct {
	class, weight int
}

// The ways in which a function takes an argument.
type argument int

const (
	aFilter  argument = iota // run as a part of the program, as often as the function likes
	aKey                     // a text or a number
	aNumber                  // a number
	aSorted                  // a filter whose results are compared
	aLiteral                 // a text that is written in the program
	aPattern                 // a regular expression that is written in the program
)

type function struct {
	cost *cost
	args []argument
}

// functions are those that a program may call, by name and number of arguments as jq writes them. Each takes steps, or
// time and memory in proportion to what its cost charges.
var functions = map[string]function{
	"empty/0":   {},
	"not/0":     {},
	"type/0":    {},
	"error/1":   {args: []argument{aLiteral}},
	"select/1":  {args: []argument{aFilter}},
	"isempty/1": {args: []argument{aFilter}},
	"first/1":   {args: []argument{aFilter}},
	"last/1":    {args: []argument{aFilter}},
	"limit/2":   {args: []argument{aNumber, aFilter}},
	"range/1":   {args: []argument{aNumber}},
	"range/2":   {args: []argument{aNumber, aNumber}},
	"range/3":   {args: []argument{aNumber, aNumber, aNumber}},
	"any/2":     {args: []argument{aFilter, aFilter}},
	"all/2":     {args: []argument{aFilter, aFilter}},

	"values/0":    {},
	"nulls/0":     {},
	"strings/0":   {},
	"numbers/0":   {},
	"booleans/0":  {},
	"arrays/0":    {},
	"objects/0":   {},
	"iterables/0": {},
	"scalars/0":   {},

	"any/0":          {cost: &cost{ofEach, 1}},
	"all/0":          {cost: &cost{ofEach, 1}},
	"any/1":          {cost: &cost{ofEach, 1}, args: []argument{aFilter}},
	"all/1":          {cost: &cost{ofEach, 1}, args: []argument{aFilter}},
	"map/1":          {cost: &cost{ofEach, 1}, args: []argument{aFilter}},
	"recurse/0":      {cost: &cost{ofEach, 1}},
	"map_values/1":   {cost: &cost{ofShallow, 2}, args: []argument{aFilter}},
	"with_entries/1": {cost: &cost{ofShallow, 4}, args: []argument{aFilter}},
	"to_entries/0":   {cost: &cost{ofShallow, 4}},
	"from_entries/0": {cost: &cost{ofShallow, 4}},
	"first/0":        {cost: &cost{ofEach, 1}},
	"last/0":         {cost: &cost{ofEach, 1}},
	"has/1":          {args: []argument{aKey}},
	"keys/0":         {cost: &cost{ofShallow, 2}},
	"length/0":       {cost: &cost{ofShallow, 4}},
	"reverse/0":      {cost: &cost{ofShallow, 1}},
	"del/1":          {cost: &cost{ofDeep, 1}, args: []argument{aFilter}},
	"add/0":          {cost: &cost{ofDeep, 1}},
	"flatten/0":      {cost: &cost{ofDeep, 1}},
	"flatten/1":      {cost: &cost{ofDeep, 1}, args: []argument{aNumber}},

	"min/0":       {cost: &cost{ofDeep, 2}},
	"max/0":       {cost: &cost{ofDeep, 2}},
	"sort/0":      {cost: &cost{ofDeep, 2}},
	"unique/0":    {cost: &cost{ofDeep, 2}},
	"min_by/1":    {cost: &cost{ofEach, 1}, args: []argument{aSorted}},
	"max_by/1":    {cost: &cost{ofEach, 1}, args: []argument{aSorted}},
	"sort_by/1":   {cost: &cost{ofEach, 1}, args: []argument{aSorted}},
	"group_by/1":  {cost: &cost{ofEach, 1}, args: []argument{aSorted}},
	"unique_by/1": {cost: &cost{ofEach, 1}, args: []argument{aSorted}},

	"floor/0":     {cost: &cost{ofNumber, 1}},
	"ceil/0":      {cost: &cost{ofNumber, 1}},
	"round/0":     {cost: &cost{ofNumber, 1}},
	"abs/0":       {cost: &cost{ofNumber, 1}},
	"sqrt/0":      {cost: &cost{ofNumber, 1}},
	"toboolean/0": {},
	"tonumber/0":  {cost: &cost{ofShort, 1}},
	"tostring/0":  {cost: &cost{ofDeep, 2}},
	"tojson/0":    {cost: &cost{ofDeep, 2}},
	"fromjson/0":  {cost: &cost{ofShallow, 32}},

	"utf8bytelength/0": {},
	"ascii_downcase/0": {cost: &cost{ofShallow, 1}},
	"ascii_upcase/0":   {cost: &cost{ofShallow, 1}},
	"trim/0":           {cost: &cost{ofShallow, 1}},
	"ltrim/0":          {cost: &cost{ofShallow, 1}},
	"rtrim/0":          {cost: &cost{ofShallow, 1}},
	"startswith/1":     {args: []argument{aFilter}},
	"endswith/1":       {args: []argument{aFilter}},
	"ltrimstr/1":       {args: []argument{aFilter}},
	"rtrimstr/1":       {args: []argument{aFilter}},
	"contains/1":       {cost: &cost{ofShallow, 1}, args: []argument{aLiteral}},
	"join/1":           {cost: &cost{ofJoin, 1}, args: []argument{aLiteral}},
	"split/1":          {cost: &cost{ofSplit, 1}, args: []argument{aLiteral}},
	"test/1":           {args: []argument{aPattern}},
}

// formats are those that a program may use, with the bytes that each may make of one.
var formats = map[string]int{"@text": 2, "@json": 2, "@base64": 2, "@base64d": 2, "@uri": 3, "@html": 6}
