<?php
// SPDX-License-Identifier: Apache-2.0
// Admits only visitors with a session of your FairQueue queue. PHP 8.1 and newer, no extensions. Caches answers for at
// most three seconds, in one file of at most 4 MiB. Without an answer of FairQueue it refuses. To cache in APCu or Redis
// instead, replace the functions remember, recall and count at the end.
declare(strict_types=1);

final class RequireSession
{
    private const SLOTS = 4096; // two visitors in one slot replace each other's answer
    private const SLOT_BYTES = 1024; // a longer answer is not cached
    private const COUNTED = ['granted' => 0, 'refused' => 8, 'unavailable' => 16]; // offset in the file's first slot

    public function __construct(
        private readonly string $url, // FairQueue's base URL
        private readonly string $queueId,
        private readonly ?string $serverKey = null, // lifts the limit of a single session
        private readonly int $keepSeconds = 3,
        private readonly float $timeoutSeconds = 2.0,
        private readonly ?string $folder = null, // writable for this site only; default: the system's for temporary files
    ) {
    }

    /** The session (ticket_id, queue_id, subject, session_expires_at), or null after the answer was sent. */
    public function check(): ?array
    {
        $token = $this->token();
        $answer = $token === null ? ['status' => 401, 'reason' => 'no_session'] : $this->ask($token);
        $this->count($answer['status'] === 200 ? 'granted' : ($answer['status'] === 503 ? 'unavailable' : 'refused'));
        if ($answer['status'] === 200) {
            return $answer['session'];
        }
        http_response_code($answer['status']);
        header('Content-Type: application/json');
        header('Cache-Control: no-store');
        if ($answer['status'] === 503) {
            header('Retry-After: 5');
        }
        echo json_encode(['error' => $answer['reason']]);
        return null;
    }

    /**
     * For `return_url` of FairQueue's waiting page, POST /fairqueue/enter: sets the session token of the form as this
     * site's cookie and redirects to $to. It does not identify the visitor: any form may be posted here.
     */
    public static function enter(string $to = '/', bool $secure = true): void
    {
        $token = $_POST['session_token'] ?? null;
        if (!is_string($token) || !preg_match('/^[\w.-]{1,200}$/D', $token)) {
            http_response_code(400);
            return;
        }
        setcookie('fairqueue_session', $token, ['path' => '/', 'httponly' => true, 'samesite' => 'Lax', 'secure' => $secure]);
        header('Cache-Control: no-store');
        header("Location: $to", true, 303);
    }

    private function token(): ?string
    {
        if (preg_match('/^Bearer (\S{1,200})$/i', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $found)) {
            return $found[1];
        }
        $cookie = $_COOKIE['fairqueue_session'] ?? null;
        return is_string($cookie) && preg_match('/^[\w.-]{1,200}$/D', $cookie) ? $cookie : null;
    }

    private function ask(string $token): array
    {
        $known = $this->recall($token);
        if ($known !== null) {
            return $known;
        }
        $headers = ["Authorization: Bearer $token"];
        if ($this->serverKey !== null) {
            $headers[] = "X-API-Key: {$this->serverKey}";
        }
        $context = stream_context_create(['http' => [
            'header' => implode("\r\n", $headers),
            'timeout' => $this->timeoutSeconds,
            'ignore_errors' => true, // 4xx have a body as well
            'follow_location' => 0,
        ]]);
        $body = @file_get_contents("{$this->url}/access?queue_id={$this->queueId}", false, $context);
        $status = $body === false ? 0 : (int) (explode(' ', $http_response_header[0])[1] ?? 0);
        $json = $body === false ? null : json_decode($body, true);
        if ($status === 200 && is_array($json)) {
            return $this->remember($token, ['status' => 200, 'session' => $json], min($this->keepSeconds, $this->maxAge($http_response_header)));
        }
        if ($status >= 400 && $status < 500 && $status !== 429) {
            $refused = $status === 410 ? 410 : 401; // 410: the session is over
            return $this->remember($token, ['status' => $refused, 'reason' => $json['code'] ?? 'refused'], 1);
        }
        return ['status' => 503, 'reason' => 'unavailable']; // fail closed
    }

    /** Time for which FairQueue allows to cache an answer, at most until the session's end. */
    private function maxAge(array $fields): int
    {
        foreach ($fields as $field) {
            if (preg_match('/^Cache-Control:.*max-age=(\d+)/i', $field, $found)) {
                return (int) $found[1];
            }
        }
        return 0;
    }

    /** How many visitors were granted, refused, or came while FairQueue did not answer. */
    public function counts(): array
    {
        return $this->locked(LOCK_SH, fn ($file) => array_map(fn ($at) => $this->countAt($file, $at), self::COUNTED)) ?? [];
    }

    private function count(string $what): void
    {
        $at = self::COUNTED[$what];
        $this->locked(LOCK_EX, fn ($file) => $this->write($file, $at, pack('J', $this->countAt($file, $at) + 1)));
    }

    private function countAt($file, int $at): int
    {
        return unpack('J', str_pad($this->read($file, $at, 8), 8, "\0"))[1];
    }

    /** The answers of several queues share the file, so the key names the queue too. */
    private function key(string $token): string
    {
        return hash('sha256', "{$this->url} {$this->queueId} $token", true);
    }

    private function slot(string $key): int
    {
        return self::SLOT_BYTES * (1 + unpack('N', $key)[1] % self::SLOTS);
    }

    private function remember(string $token, array $answer, int $seconds): array
    {
        $key = $this->key($token);
        $slot = $key . json_encode(['until' => time() + $seconds, 'answer' => $answer]);
        if (strlen($slot) <= self::SLOT_BYTES) {
            $slot = str_pad($slot, self::SLOT_BYTES);
            $this->locked(LOCK_EX, fn ($file) => $this->write($file, $this->slot($key), $slot));
        }
        return $answer;
    }

    private function recall(string $token): ?array
    {
        $key = $this->key($token);
        $slot = $this->locked(LOCK_SH, fn ($file) => $this->read($file, $this->slot($key), self::SLOT_BYTES)) ?? '';
        $kept = str_starts_with($slot, $key) ? json_decode(substr($slot, strlen($key)), true) : null;
        return is_array($kept) && time() < $kept['until'] ? $kept['answer'] : null;
    }

    /** Calls $work with the locked file. Null without the file, or if it is another user's: then nothing is cached. */
    private function locked(int $lock, callable $work): mixed
    {
        $file = @fopen(($this->folder ?? sys_get_temp_dir()) . '/fairqueue-sessions', 'c+b');
        if ($file === false) {
            return null;
        }
        try {
            $isOwn = !function_exists('posix_geteuid') || fstat($file)['uid'] === posix_geteuid();
            return $isOwn && flock($file, $lock) ? $work($file) : null;
        } finally {
            fclose($file); // unlocks
        }
    }

    private function read($file, int $at, int $bytes): string
    {
        fseek($file, $at);
        return (string) fread($file, $bytes);
    }

    private function write($file, int $at, string $bytes): void
    {
        fseek($file, $at);
        fwrite($file, $bytes);
    }
}
