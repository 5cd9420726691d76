<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Settings\Pages;
use Weighbridge\Library\Settings\Rule;

/**
 * Decides how a page is encoded, and encodes it: the rules that the output handler and all adapters share.
 */
final class Page
{
    /** Fields that hold a digest of the content or of the representation: encoding would make them wrong. */
    private const DIGESTS = ['content-digest', 'repr-digest', 'digest', 'content-md5'];

    private Pages $settings;

    private Codec $codec;

    public function __construct(Pages $settings, ?Codec $codec = null)
    {
        $this->settings = $settings;
        $this->codec = $codec ?? new Codec();
    }

    /**
     * Decides about a page of this length; null: it is not known, and the page is sent in pieces.
     */
    public function plan(Request $request, Head $head, ?int $length): Plan
    {
        $rules = self::mayBeEncoded($head) ? $this->rulesFor($head->type()) : [];
        if ($rules === []) {
            return new Plan(null, [], []);
        }
        $fields = self::vary($head);
        if ($head->status === 304) {
            // The client has an encoded page if it asked about a weak ETag, and is answered with that.
            $weakened = self::weakened($head);
            $isAsked = strpos($request->field('if-none-match') ?? '', $weakened['ETag'] ?? '"') !== false;
            return new Plan(null, $fields + ($isAsked ? $weakened : []), []);
        }
        $rule = $this->isSafe($request) ? $this->choose($request, $rules, $length) : null;
        if ($rule === null) {
            return new Plan(null, $fields, []);
        }
        $encoded = ['Content-Encoding' => $rule->coding, 'Content-Length' => null, 'Accept-Ranges' => null];
        return new Plan($rule, $fields, $encoded + self::weakened($head));
    }

    /**
     * Encodes a whole page.
     *
     * @return array{string, array<string, string|null>} the body to send, and the header fields to set; null removes one
     */
    public function encode(Request $request, Head $head, string $body): array
    {
        if ($body === '' && $request->method === 'HEAD' && $head->field('content-length') !== null) {
            // A framework that made no body has its length.
            $plan = $this->plan($request, $head, (int) $head->field('content-length'));
            return ['', $plan->fields + ($plan->rule === null ? [] : $plan->encoded)];
        }
        $plan = $this->plan($request, $head, strlen($body));
        if ($plan->rule === null) {
            return [$body, $plan->fields];
        }
        $rule = $plan->rule;
        try {
            $encoded = $this->codec->encode($body, $rule->coding, $rule->level, null, $rule->codec);
        } catch (CodecFailure $failure) {
            return [$body, $plan->fields];
        }
        if (strlen($encoded) >= strlen($body)) {
            return [$body, $plan->fields];
        }
        return [$encoded, ['Content-Length' => (string) strlen($encoded)] + $plan->fields + $plan->encoded];
    }

    /**
     * Begins the stream of a plan's rule; null where it has none.
     *
     * @throws CodecFailure
     */
    public function stream(Plan $plan): ?Stream
    {
        $rule = $plan->rule;
        return $rule === null ? null : $this->codec->stream($rule->coding, $rule->level, $rule->codec);
    }

    /** Whether the response has a body that is whole, not encoded, and may be changed. */
    private static function mayBeEncoded(Head $head): bool
    {
        if ($head->status < 200 || in_array($head->status, [204, 205, 206], true)) {
            return false;
        }
        foreach (self::DIGESTS as $name) {
            if ($head->field($name) !== null) {
                return false;
            }
        }
        return $head->field('content-encoding') === null
            && $head->field('content-range') === null
            && !$head->lists('cache-control', 'no-transform');
    }

    /** @return list<Rule> those for the media type */
    private function rulesFor(string $type): array
    {
        return array_values(array_filter($this->settings->rules, static function (Rule $rule) use ($type): bool {
            return $rule->isFor($type);
        }));
    }

    /** Whether encoding tells nobody what the page says: see BREACH in README.md. */
    private function isSafe(Request $request): bool
    {
        switch ($this->settings->breach) {
            case Pages::CROSS_SITE:
                return !($request->isPersonal() && $request->isCrossSite());
            case Pages::COOKIES:
                return !$request->isPersonal();
            default:
                return true;
        }
    }

    /** @param list<Rule> $rules */
    private function choose(Request $request, array $rules, ?int $length): ?Rule
    {
        $what = $length === null ? Binding::STREAM : Binding::ENCODE;
        $candidates = [];
        foreach ($rules as $rule) {
            if (($length ?? PHP_INT_MAX) >= $rule->minBytes && !isset($candidates[$rule->coding])) {
                $candidates[$rule->coding] = $rule;
            }
        }
        $negotiation = new Negotiation($request->field('accept-encoding'));
        // Only what the client names is looked for in this PHP: opening a library takes time.
        while (($coding = $negotiation->choose(array_map('strval', array_keys($candidates)))) !== null) {
            if ($this->codec->can($coding, $what)) {
                return $candidates[$coding];
            }
            unset($candidates[$coding]);
        }
        return null;
    }

    /** @return array<string, string> */
    private static function vary(Head $head): array
    {
        if ($head->lists('vary', '*') || $head->lists('vary', 'Accept-Encoding')) {
            return [];
        }
        $vary = $head->field('vary') ?? '';
        return ['Vary' => $vary === '' ? 'Accept-Encoding' : "$vary, Accept-Encoding"];
    }

    /** @return array<string, string> the ETag as a weak one, for the bytes differ from coding to coding */
    private static function weakened(Head $head): array
    {
        $etag = $head->field('etag');
        return $etag === null || strncmp($etag, '"', 1) !== 0 ? [] : ['ETag' => "W/$etag"];
    }
}
