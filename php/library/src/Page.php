<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Settings\Rule;

/** @internal Decides how a page is encoded, and encodes it: the rules that the output handler and all adapters share. */
final class Page
{
    /** Fields that say that the content is encoded, framed or a part, or hold a digest of it. */
    private const BARS = [
        'content-encoding', 'content-range', 'transfer-encoding', 'content-digest', 'repr-digest', 'digest', 'content-md5',
    ];

    /** @var array{rules: list<Rule>, breach: string} */
    private array $settings;

    /** Null: not needed yet. */
    private ?Codec $codec;

    /** Without settings, their defaults are not even read. */
    public function __construct(?Settings $settings = null, ?Codec $codec = null)
    {
        $this->settings = $settings === null ? ['rules' => Rule::defaults(), 'breach' => 'cross-site'] : $settings->page;
        $this->codec = $codec;
    }

    /**
     * Decides about a page of this length; null: it is not known, and the page is sent in pieces.
     *
     * @return array{?Rule, array<string, string|null>, array<string, string|null>} the rule, null for the page as it is;
     *         header fields to set whatever is done, null removes one; those to set besides when it is encoded
     */
    public function plan(Request $request, Head $head, ?int $length): array
    {
        // A response without content has no type of its own as a rule.
        $isUnchanged = $head->status === 304;
        $type = $isUnchanged && $head->type() === '' ? 'text/html' : $head->type();
        $rules = self::mayBeEncoded($head) ? $this->rulesFor($type, $length) : [];
        if ($rules === []) {
            return [null, [], []];
        }
        $varies = $head->lists('vary', '*') || $head->lists('vary', 'accept-encoding');
        $fields = $varies ? [] : ['Vary' => $head->with('vary', 'Accept-Encoding')];
        $rule = $this->choose($request, $rules, $length);
        if ($rule === null || $length !== null && $length < $rule->minBytes && !$isUnchanged) {
            return [null, $fields, []];
        }
        if ($request->isWithheld($this->settings['breach'])) {
            // What is not encoded for one user is not to be stored for all of them.
            $isStored = !$head->lists('cache-control', 'private') && !$head->lists('cache-control', 'no-store');
            return [null, $fields + ($isStored ? ['Cache-Control' => $head->with('cache-control', 'private')] : []), []];
        }
        $etag = $head->field('etag') ?? '';
        $weakened = strncmp($etag, '"', 1) === 0 ? ['ETag' => "W/$etag"] : [];
        if ($isUnchanged) {
            // The client has an encoded page if it asked about the weak tag, and is answered with that.
            $isAsked = strpos($request->field('if-none-match') ?? '', "W/$etag") !== false;
            return [null, $fields + ($isAsked ? $weakened : []), []];
        }
        $encoded = ['Content-Encoding' => $rule->coding, 'Content-Length' => null, 'Accept-Ranges' => null];
        return [$rule, $fields, $encoded + $weakened];
    }

    /**
     * Encodes a whole page.
     *
     * @return array{string, array<string, string|null>} the body to send, and the header fields to set; null removes one
     */
    public function encode(Request $request, Head $head, string $body): array
    {
        $isHead = $request->method === 'HEAD';
        // A framework that made no body has its length.
        $length = $isHead && $body === '' ? (int) $head->field('content-length') : strlen($body);
        [$rule, $fields, $encoded] = $this->plan($request, $head, $length);
        if ($rule === null || $body === '') {
            return [$body, $fields + ($isHead ? $encoded : [])];
        }
        try {
            $coded = $this->codec()->encode($body, $rule->coding, $rule->level, null, $rule->codec);
        } catch (CodecFailure $failure) {
            return [$body, $fields];
        }
        $isSmaller = strlen($coded) < strlen($body);
        return $isSmaller ? [$coded, ['Content-Length' => (string) strlen($coded)] + $fields + $encoded] : [$body, $fields];
    }

    /**
     * Begins the stream of a rule.
     *
     * @throws CodecFailure
     */
    public function stream(Rule $rule): Stream
    {
        return $this->codec()->stream($rule->coding, $rule->level, $rule->codec);
    }

    /** If-None-Match as the application is to see it: with the tags that it gave, which `plan()` made weak. */
    public static function withStrongTags(string $field): string
    {
        return (string) preg_replace('~W/("[^"]*")|("[^"]*")~', '$1$2', $field);
    }

    /** Whether the response has a body that is whole, not encoded, and may be changed. */
    private static function mayBeEncoded(Head $head): bool
    {
        $bars = array_filter(array_map([$head, 'field'], self::BARS), 'is_string');
        return $head->status >= 200 && !in_array($head->status, [204, 205, 206], true) && $bars === []
            && !$head->lists('cache-control', 'no-transform') && !$head->isStream();
    }

    /** @return array<string, Rule> by coding, the preferred one first: the first that is for the media type and the length */
    private function rulesFor(string $type, ?int $length): array
    {
        $rules = $small = [];
        foreach ($this->settings['rules'] as $rule) {
            if (!$rule->isFor($type)) {
                continue;
            }
            if ($length !== null && $length < $rule->minBytes) {
                $small += [$rule->coding => $rule];
            } else {
                $rules += [$rule->coding => $rule];
            }
        }
        // A page that is too small varies like its larger brothers.
        return $rules === [] ? $small : $rules;
    }

    /** @param array<string, Rule> $rules */
    private function choose(Request $request, array $rules, ?int $length): ?Rule
    {
        // Only what the client names is looked for in this PHP: opening a library takes time.
        foreach ($request->accepted(array_keys($rules)) as $coding) {
            if ($this->codec()->can($coding, $length === null ? Binding::STREAM : Binding::ENCODE)) {
                return $rules[$coding];
            }
        }
        return null;
    }

    private function codec(): Codec
    {
        return $this->codec ?? $this->codec = new Codec();
    }
}
