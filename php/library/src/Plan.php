<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Settings\Rule;

/** What to do with a page: the rule to encode it by, and the header fields that change. */
final class Plan
{
    /** Null: it is sent as it is. */
    public ?Rule $rule;

    /** @var array<string, string|null> header fields to set, whatever is done; null removes one */
    public array $fields;

    /** @var array<string, string|null> header fields to set besides when it is encoded */
    public array $encoded;

    /**
     * @param array<string, string|null> $fields
     * @param array<string, string|null> $encoded
     */
    public function __construct(?Rule $rule, array $fields, array $encoded)
    {
        $this->rule = $rule;
        $this->fields = $fields;
        $this->encoded = $encoded;
    }
}
