SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.gateway_account (
    id character varying(32) NOT NULL,
    name character varying(100) NOT NULL,
    created_at bigint NOT NULL,
    suspended_at bigint,
    rate text,
    consent_words text
);
CREATE TABLE public.gateway_audit (
    id uuid NOT NULL,
    at bigint NOT NULL,
    user_id character varying(32),
    ip character varying(45),
    account_id character varying(32),
    action character varying(64) NOT NULL,
    target character varying(255)
);
CREATE TABLE public.gateway_caller (
    account_id character varying(32) NOT NULL,
    caller character varying(15) NOT NULL,
    created_at bigint NOT NULL,
    state character varying(16) DEFAULT 'approved'::character varying NOT NULL
);
CREATE TABLE public.gateway_credential (
    id character varying(32) NOT NULL,
    account_id character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    fingerprint character varying(64) NOT NULL,
    last_four character varying(4) NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    expires_at bigint,
    last_used_at bigint
);
CREATE TABLE public.gateway_digest_key (
    id character varying(16) NOT NULL,
    secret character varying(255) NOT NULL
);
CREATE TABLE public.gateway_email_domain (
    id uuid NOT NULL,
    account_id character varying(32) NOT NULL,
    name character varying(180) NOT NULL,
    status character varying(16) NOT NULL,
    verified_name character varying(180),
    verified_at bigint,
    mismatch_since bigint,
    check_due_at bigint,
    created_at bigint NOT NULL,
    checks text NOT NULL
);
CREATE TABLE public.gateway_email_domain_key (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    algorithm character varying(16) NOT NULL,
    selector character varying(63) NOT NULL,
    public_key text NOT NULL,
    private_key text NOT NULL,
    state character varying(16) NOT NULL,
    former_until bigint,
    created_at bigint NOT NULL
);
CREATE TABLE public.gateway_member (
    account_id character varying(32) NOT NULL,
    user_id character varying(32) NOT NULL,
    role character varying(16) NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.gateway_secrets_key (
    id character varying(16) NOT NULL,
    check_value character varying(255) NOT NULL,
    purge_due smallint NOT NULL
);
CREATE TABLE public.gateway_sender (
    account_id character varying(32) NOT NULL,
    sender character varying(11) NOT NULL,
    state character varying(16) DEFAULT 'approved'::character varying NOT NULL
);
CREATE TABLE public.gateway_session (
    id character varying(64) NOT NULL,
    user_id character varying(32) NOT NULL,
    account_id character varying(32),
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL
);
CREATE TABLE public.gateway_smpp_credential (
    system_id character varying(15) NOT NULL,
    account_id character varying(32) NOT NULL,
    password_hash character varying(160) NOT NULL,
    created_at bigint NOT NULL,
    last_bound_at bigint
);
CREATE TABLE public.gateway_smpp_delivery (
    "position" bigint NOT NULL,
    system_id character varying(15) NOT NULL,
    message_id character varying(64) NOT NULL,
    state character varying(16),
    error character varying(3) DEFAULT '000'::character varying NOT NULL,
    source character varying(21) NOT NULL,
    destination character varying(21) NOT NULL,
    text text,
    submitted_at bigint NOT NULL,
    done_at bigint NOT NULL,
    created_at bigint NOT NULL,
    attempts smallint DEFAULT '0'::smallint NOT NULL,
    due_at bigint DEFAULT '0'::bigint NOT NULL
);
CREATE SEQUENCE public.gateway_smpp_delivery_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.gateway_smpp_delivery_position_seq OWNED BY public.gateway_smpp_delivery."position";
CREATE TABLE public.gateway_smpp_part (
    system_id character varying(15) NOT NULL,
    message_key character varying(32) NOT NULL,
    part smallint NOT NULL,
    message_id uuid NOT NULL,
    sender character varying(21) NOT NULL,
    recipient character varying(15) NOT NULL,
    receipts smallint NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.gateway_user (
    id character varying(32) NOT NULL,
    email character varying(254) NOT NULL,
    password character varying(255) NOT NULL,
    operator smallint NOT NULL,
    created_at bigint NOT NULL,
    last_sign_in_at bigint
);
CREATE TABLE public.gateway_user_link (
    id character varying(32) NOT NULL,
    fingerprint character varying(64) NOT NULL,
    kind character varying(16) NOT NULL,
    account_id character varying(32),
    role character varying(16),
    operator smallint NOT NULL,
    user_id character varying(32),
    email character varying(254),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint
);
CREATE TABLE public.gateway_webhook_attempt (
    "position" bigint NOT NULL,
    endpoint_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    message_id character varying(64) NOT NULL,
    attempt smallint NOT NULL,
    started_at bigint NOT NULL,
    duration integer NOT NULL,
    status smallint,
    error character varying(32),
    response character varying(1024)
);
CREATE SEQUENCE public.gateway_webhook_attempt_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.gateway_webhook_attempt_position_seq OWNED BY public.gateway_webhook_attempt."position";
CREATE TABLE public.gateway_webhook_delivery (
    "position" bigint NOT NULL,
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    message_id character varying(64) NOT NULL,
    sequence integer NOT NULL,
    payload text NOT NULL,
    created_at bigint NOT NULL,
    attempts smallint DEFAULT '0'::smallint NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    due_at bigint DEFAULT '0'::bigint,
    delivered_at bigint
);
CREATE SEQUENCE public.gateway_webhook_delivery_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.gateway_webhook_delivery_position_seq OWNED BY public.gateway_webhook_delivery."position";
CREATE TABLE public.gateway_webhook_endpoint (
    id uuid NOT NULL,
    account_id character varying(64) NOT NULL,
    slot smallint NOT NULL,
    url character varying(2048) NOT NULL,
    secret character varying(255) NOT NULL,
    previous_secrets character varying(512),
    previous_until bigint,
    events text,
    disabled_at bigint,
    disabled_reason character varying(16),
    failing_since bigint,
    created_at bigint NOT NULL
);
CREATE TABLE public.gateway_whatsapp_number (
    number character varying(15) NOT NULL,
    account_id character varying(32) NOT NULL,
    created_at bigint NOT NULL,
    phone_number_id character varying(32),
    waba character varying(32),
    templates_due_at bigint
);
CREATE TABLE public.gateway_whatsapp_template (
    account_id character varying(32) NOT NULL,
    name character varying NOT NULL,
    language character varying(32) NOT NULL,
    category character varying(16) NOT NULL,
    status character varying(16) NOT NULL,
    params_count integer NOT NULL,
    param_names text,
    waba character varying(32)
);
CREATE TABLE public.gateway_write_probe (
    id uuid NOT NULL,
    filler text NOT NULL
);
CREATE TABLE public.messaging_batch (
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    channel character varying(16) NOT NULL,
    lane character varying(255) NOT NULL,
    priority smallint NOT NULL,
    sender character varying(255) NOT NULL,
    content text,
    delivery_report smallint NOT NULL,
    parts smallint NOT NULL,
    recipient_count integer NOT NULL,
    labelled smallint DEFAULT 0 NOT NULL,
    denied integer DEFAULT 0 NOT NULL,
    created_at bigint NOT NULL,
    send_at bigint,
    available_at bigint NOT NULL,
    valid_until bigint,
    state smallint NOT NULL,
    parked_until bigint DEFAULT 0 NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    idempotency_key character varying(255),
    fingerprint character varying(255),
    in_doubt_at bigint,
    notification uuid,
    completed_at bigint,
    poll_at bigint,
    polls smallint DEFAULT 0 NOT NULL
);
CREATE TABLE public.messaging_batch_attachment (
    batch uuid NOT NULL,
    digest character varying(64) NOT NULL,
    n integer NOT NULL,
    bytes bytea NOT NULL
);
CREATE TABLE public.messaging_batch_chunk (
    batch uuid NOT NULL,
    n integer NOT NULL,
    recipients text NOT NULL
);
CREATE TABLE public.messaging_batch_label (
    batch uuid NOT NULL,
    n integer NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    tag character varying(64) NOT NULL,
    labels text
);
CREATE TABLE public.messaging_batch_personal (
    batch uuid NOT NULL,
    n integer NOT NULL,
    entries text NOT NULL
);
CREATE TABLE public.messaging_cancellation (
    batch uuid NOT NULL,
    provider character varying(32) NOT NULL,
    requested_at bigint NOT NULL,
    due_at bigint NOT NULL,
    asked integer DEFAULT '-1'::integer NOT NULL,
    tries smallint DEFAULT 0 NOT NULL
);
CREATE TABLE public.messaging_consent (
    contact uuid NOT NULL,
    channel character varying(16) NOT NULL,
    category character varying(32) NOT NULL,
    state character varying(16) NOT NULL,
    at bigint NOT NULL,
    source character varying(255) NOT NULL,
    evidence text
);
CREATE TABLE public.messaging_consent_history (
    id uuid NOT NULL,
    contact uuid NOT NULL,
    channel character varying(16) NOT NULL,
    category character varying(32) NOT NULL,
    state character varying(16) NOT NULL,
    at bigint NOT NULL,
    source character varying(255) NOT NULL,
    evidence text,
    recorded_at bigint NOT NULL
);
CREATE TABLE public.messaging_contact (
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    name character varying(255),
    created_at bigint NOT NULL
);
CREATE TABLE public.messaging_contact_address (
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    address character varying(320) NOT NULL,
    kind character varying(16) NOT NULL,
    contact uuid NOT NULL,
    given_at bigint NOT NULL
);
CREATE TABLE public.messaging_contact_group (
    id character varying(64) NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    name character varying(255) NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.messaging_erased_suppression (
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    digest character varying(64) NOT NULL,
    channel character varying(16) NOT NULL,
    category character varying(32) NOT NULL,
    reason character varying(255) NOT NULL,
    at bigint NOT NULL,
    message character varying(255)
);
CREATE TABLE public.messaging_erasure (
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    address character varying(320) NOT NULL,
    after uuid,
    walked smallint DEFAULT 0 NOT NULL,
    places text NOT NULL,
    due_at bigint NOT NULL
);
CREATE TABLE public.messaging_group_member (
    group_id character varying(64) NOT NULL,
    contact uuid NOT NULL
);
CREATE TABLE public.messaging_hold (
    lanes character varying(255) NOT NULL,
    reason character varying(32) NOT NULL,
    since bigint NOT NULL,
    until_at bigint,
    note character varying(255)
);
CREATE TABLE public.messaging_inbound_message (
    id uuid NOT NULL,
    token uuid NOT NULL,
    received_at bigint NOT NULL
);
CREATE TABLE public.messaging_inbound_text (
    contact uuid NOT NULL,
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    channel character varying(16) NOT NULL,
    sender character varying(320) NOT NULL,
    recipient character varying(255) NOT NULL,
    text text,
    received_at bigint NOT NULL
);
CREATE TABLE public.messaging_instance (
    id smallint NOT NULL,
    mark character varying(255)
);
CREATE TABLE public.messaging_lane (
    lane_key character varying(255) NOT NULL,
    owner character varying(255),
    fence bigint DEFAULT 0 NOT NULL,
    lease_until bigint DEFAULT 0 NOT NULL,
    rate_state text,
    paused_until bigint DEFAULT 0 NOT NULL,
    pause_reason character varying(255),
    pause_part smallint DEFAULT 0 NOT NULL
);
CREATE TABLE public.messaging_last_inbound (
    contact uuid NOT NULL,
    sender character varying(255) NOT NULL,
    last_at bigint NOT NULL
);
CREATE TABLE public.messaging_message (
    batch uuid NOT NULL,
    "position" integer NOT NULL,
    submission integer,
    status smallint NOT NULL,
    attempt smallint NOT NULL,
    counted_failures smallint DEFAULT 0 NOT NULL,
    sequence smallint DEFAULT 0 NOT NULL,
    recipient character varying(320) NOT NULL,
    reference character varying(255),
    error_code character varying(64),
    refused_by character varying(255),
    due_at bigint
)
WITH (fillfactor='45');
CREATE TABLE public.messaging_notification (
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    status character varying(16) NOT NULL,
    steps text NOT NULL,
    plan text,
    created_at bigint NOT NULL,
    ended_at bigint,
    due_at bigint,
    idempotency_key character varying(255),
    fingerprint character varying(255)
);
CREATE TABLE public.messaging_provider_pause (
    provider character varying(32) NOT NULL,
    paused_until bigint NOT NULL,
    probed_until bigint DEFAULT 0 NOT NULL,
    reason character varying(255) NOT NULL,
    trips integer NOT NULL
);
CREATE TABLE public.messaging_rate_slot (
    rate_key character varying(255) NOT NULL,
    reserved_until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.messaging_report (
    id bigint NOT NULL,
    hash uuid,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    batch uuid,
    "position" integer,
    provider character varying(32) NOT NULL,
    reference character varying(255),
    message_id character varying(255),
    recipient character varying(320),
    status smallint,
    raw_status character varying(255) NOT NULL,
    error_code character varying(64),
    provider_time bigint,
    received_at bigint NOT NULL,
    sequence smallint,
    details text
);
ALTER TABLE public.messaging_report ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.messaging_report_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.messaging_resend (
    batch uuid NOT NULL,
    "position" integer NOT NULL,
    new_batch uuid NOT NULL,
    resent_by character varying(255),
    resent_at bigint NOT NULL
);
CREATE TABLE public.messaging_submission (
    batch uuid NOT NULL,
    n integer NOT NULL,
    first_position integer NOT NULL,
    last_position integer NOT NULL,
    members text,
    attempt smallint NOT NULL,
    fence bigint NOT NULL,
    provider character varying(32) NOT NULL,
    first_sent_at bigint NOT NULL,
    content text,
    outcome smallint,
    reference character varying(255),
    error_code character varying(255),
    error_text text,
    details text,
    finished_at bigint
);
CREATE TABLE public.messaging_suppression (
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    address character varying(320) NOT NULL,
    channel character varying(16) NOT NULL,
    category character varying(32) NOT NULL,
    reason character varying(255) NOT NULL,
    at bigint NOT NULL,
    message character varying(255)
);
CREATE TABLE public.messaging_vas_allowance (
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    currency character varying(3) NOT NULL,
    daily bigint NOT NULL,
    per_number bigint NOT NULL,
    allowed_at bigint NOT NULL,
    tally bigint,
    version bigint NOT NULL
);
CREATE TABLE public.messaging_vas_order (
    batch uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    reference character varying(255) NOT NULL,
    fingerprint character varying(255) NOT NULL,
    number_digest character varying(255) NOT NULL,
    product character varying(255) NOT NULL,
    type character varying(16) NOT NULL,
    amount bigint NOT NULL,
    currency character varying(3) NOT NULL,
    network character varying(255),
    created_at bigint NOT NULL,
    tell_at bigint,
    settled_at bigint,
    settled_as character varying(16),
    settled_by character varying(255),
    settled_note text
);
CREATE TABLE public.messaging_verification (
    id uuid NOT NULL,
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    channel character varying(16) NOT NULL,
    country character varying(2) NOT NULL,
    code character varying(255) NOT NULL,
    status character varying(16) NOT NULL,
    tries smallint DEFAULT 0 NOT NULL,
    attempts smallint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    batch uuid NOT NULL,
    erase_at bigint,
    idempotency_key character varying(255),
    fingerprint character varying(255)
);
CREATE TABLE public.messaging_verification_limit (
    tenant character varying(255) DEFAULT ''::character varying NOT NULL,
    scope character varying(16) NOT NULL,
    subject character varying(255) NOT NULL,
    window_at bigint NOT NULL,
    started integer NOT NULL,
    next_at bigint NOT NULL
);
CREATE TABLE public.migrations (
    id integer NOT NULL,
    "timestamp" bigint NOT NULL,
    name character varying NOT NULL
);
CREATE SEQUENCE public.migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.migrations_id_seq OWNED BY public.migrations.id;
ALTER TABLE ONLY public.gateway_smpp_delivery ALTER COLUMN "position" SET DEFAULT nextval('public.gateway_smpp_delivery_position_seq'::regclass);
ALTER TABLE ONLY public.gateway_webhook_attempt ALTER COLUMN "position" SET DEFAULT nextval('public.gateway_webhook_attempt_position_seq'::regclass);
ALTER TABLE ONLY public.gateway_webhook_delivery ALTER COLUMN "position" SET DEFAULT nextval('public.gateway_webhook_delivery_position_seq'::regclass);
ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);
INSERT INTO public.gateway_account VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'demo', 1795790912167, NULL, NULL, NULL);
INSERT INTO public.gateway_account VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H', 'acme', 1795790914656, NULL, NULL, NULL);
INSERT INTO public.gateway_audit VALUES ('01a21d7a-baf3-77b9-b3d6-68309bd13bda', 1795790912243, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'session.started', NULL);
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bb10-7329-adc4-87ee267b0d7c', 1795790912272, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'webhook.added', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bb31-7287-9db0-35c6c0f32ff4', 1795790912305, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'group.created', 'grp_HnCdKVt9E60sMznwEw4gGY');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bb4f-7716-b173-4962360239e8', 1795790912335, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'group.members_added', 'grp_HnCdKVt9E60sMznwEw4gGY: 3');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bb70-712a-9631-f32f30b25e38', 1795790912368, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'suppression.added', 'l•••@example.com');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bb94-746f-8148-d3e30fd37f19', 1795790912404, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sender.added', 'ACMENEWS');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-bc39-7308-9ae1-0518cc087ce8', 1795790912569, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'domain.added', '01a21d7a-bb9f-772a-b187-5da461ca8457');
INSERT INTO public.gateway_audit VALUES ('01a21d7a-c24d-7127-a66c-b30eacf840fb', 1795790914125, 'usr_test2', '127.0.0.1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'do_not_call.added', '•••••••••••98');
INSERT INTO public.gateway_caller VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348000000001', 1795790912188, 'approved');
INSERT INTO public.gateway_credential VALUES ('crd_OLXnDOglu97IB5vqsklScc', 'acc_vu3AmU1wja9MvmSngKwVfH', 'api_token', '750e54ed0d979ed3e24c218b87baf44b38ee90956a79a1047d1455421c49765c', 'AgMX', '', 1795790912168, NULL, NULL, NULL);
INSERT INTO public.gateway_credential VALUES ('crd_gPoRlOn8CDZBVPalfURQ5C', 'acc_vu3AmU1wja9MvmSngKwVfH', 'api_key', 'afa418da3959c50724e1816d5fe845760171682dd7c5df41d7cc4c3a810378a9', 'INkH', 'whatsapp:send,whatsapp:read,contacts:read,contacts:write,email:read,email:send,email:webhooks,domains:write', 1795790912169, NULL, NULL, NULL);
INSERT INTO public.gateway_credential VALUES ('crd_bdRIDl0Vs94YdJnmt7qkMY', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 'api_token', '4c5176b7f457109210b7619b11fb71febf9bd5e97c79fa3e1cdaee78b9ac3549', 'EEJn', '', 1795790914658, NULL, NULL, NULL);
INSERT INTO public.gateway_credential VALUES ('crd_ZszSzojohqI35UZcRc29Zu', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 'api_key', '8ba976dc72fda7e6a0d5af3f7e463b5f883d33ad8bdb7f4e38600611391a548a', '1R8X', 'whatsapp:send,whatsapp:read,contacts:read,contacts:write,email:read,email:send,email:webhooks,domains:write', 1795790914660, NULL, NULL, NULL);
INSERT INTO public.gateway_digest_key VALUES ('current', 'enc1.b28bfe26.QH9npjGA9mGz0qgaubZYzR0YWS-22ZqX8plYPJF8Fdl3jWpfcoZ40u7_kDIxC8Q66mOv9Vu-daye_W2ZrvoMcBKccXj5zpNF');
INSERT INTO public.gateway_email_domain VALUES ('01a21d7a-bab0-710c-b2cf-c5e8edda9699', 'acc_vu3AmU1wja9MvmSngKwVfH', 'demo.test', 'verified', 'demo.test', 1795790912176, NULL, NULL, 1795790912176, '{}');
INSERT INTO public.gateway_email_domain VALUES ('01a21d7a-bb9f-772a-b187-5da461ca8457', 'acc_vu3AmU1wja9MvmSngKwVfH', 'mail.acme.test', 'pending', NULL, NULL, NULL, 1795791513944, 1795790912553, '{"TXT dundun-r-32ed5621._domainkey.mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"},"TXT dundun-e-c1989037._domainkey.mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"},"MX bounce.mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"},"TXT bounce.mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"},"TXT _dmarc.mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"},"MX mail.acme.test":{"status":"missing","found":null,"checkedAt":"2026-11-27T14:48:33.936Z"}}');
INSERT INTO public.gateway_email_domain_key VALUES ('01a21d7a-bab2-75b8-8d6f-92fe94d21526', '01a21d7a-bab0-710c-b2cf-c5e8edda9699', 'ed25519', 'dundun-e-6b05a5aa', '3rZrpqyhHP6ujq4oKuUlWFmHJW4/lIxpIH2Yk4kgv/c=', 'enc1.b28bfe26.TbYFd24Qo6xZTDOGVRaTMffArnCWVozySw8rgZBxd6auBgL62L7ZUHpPEB_sLZVtjB4_nwTGq0298yTMGuoyJxXMF2TyuwRLeeINbuiZt9HKolZT0ovMQCeM_u7paWYn8jQQIX6NgWECylOoyndCHV67R3CbRi8-iv-m4V1SBg_b6y9SdLpd0NOoCPl2ntA63phS', 'current', NULL, 1795790912179);
INSERT INTO public.gateway_email_domain_key VALUES ('01a21d7a-bc28-708f-a61b-ea8ee4edaf91', '01a21d7a-bb9f-772a-b187-5da461ca8457', 'rsa', 'dundun-r-32ed5621', 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAoyMiVK+DKJV8soogPgVgcWPt0vel79xa7vUnZPODkBu8w4DRiarPLbBqBdxXl8sN0hUy+086gSoAnvl/3pCpb31X2LEgalWXaXQOBnT4CD29UrV/QD/uw2/dOGwRLb80fwtIyIXCEk3gfCgh1FOS/k1Rrx5vQUhokFaD2QtO3IadAXJyCaF0Yey221tMJhohFFenuz1mdYyLH1ujjod+Mvd80pJEMZsVIpUkfHbqBdkDBeY44osI6RO59LUiKmyVySr6Ek2lPngU6LC/yjVN+noIkhwPG8jJWdvw0xcnfquU5TC6HRznO8/tSM/6e3+EBKaK7258gd4OvIG6ZOnsRQIDAQAB', 'enc1.b28bfe26.vxh2lFv7-64ghKtESjdB_ecGOlx0wpteF-PjF5f-bRiQ1cA7ciNVUEaB2EVcxwD4fZRtqtWHq42X77fqU-2GorocOE2cv3K_DoFpTGRy58poPnVzvORzokBlteKJbpoIihahMdZNvmHGgbqdCiprQ57eJZL-Dny--4JT5mGysBBYC7NxWRJgHsjxfcHsftJHuo3NqyQI2kUobK9rNsR1Wac7lMb6dOaNUZ6IIsb8uHb2fgKc05-gD51eQGu7-zbD4kpdcshs43gE5fC5jnGjrOVKtHXP-y4cdBej1h7-mii5tHObplwXMZRvBmlHrWKe0r2HVL8704fN6JUEPtnM8hEsJjdSckIuJPC80iiVcNi2AEqZK6h-SwQzYOmyzy75DW6GJXLJ5LygAu09W-tKCHrX1Y13gR_lAdGeqmJwi8nKuAw0ZM6hcFXhIVCkVxwY_ntzcoU-0GTQAzMuanOTLx6sC_nPebUcvYVf9NNWxD-riJ-lX0osXCirRPJk08ApvWL4q8XBBTm_Z5OySFey0GtJ1UBeFjxCEkA9zBT3h689TlIXVFJvr11JGLIWoz_-nZMtZ-Kxlklsy_KSX3owS-JDNKX2qviDRvQpNYlw8C0_kq99E401cNTRR1PYO4QLBjPBkcjtsHUNtrdOCymUEvEKtd6n8QkJno93tkRV-G_sYP4d0WvdTRX5a3KydPA-rnuwWwdJWB0mRu1cGlQehLaoF4R8VMguu6JBhUv4r_7wvpT_6Eafjg4plFdn-mxE7rT1XvjIZ34j97ro24MEOiLwK_0SJf3eulh5Wyn3Xy-XKGS8ty-xGT9QRsGc7CdiRZifoSantn6CLrqpCLbZLXJk-kxlgb7rByxOJUC2E5OG47Fs69GZRDDxpBZFlo3jHmZNi0IRY_Ge9x1J46YTVfAdseP96bCr8xf-IIerljD0irqHkdGJQlPtSZm5JXKBrM2ks7G8tx6F6L9KQomhI_li19CdkGrByEUYk7eZ5tNRUBOY0V7mYNSi_w4wlMVDXRqRXVk4ISZZSRgdPGMXcUdwvXasJWk7fqhqSKXhPnOdEsLDWmvMqRupZAcPlgK1-xv6AMBGJPKyrOwHqVHL8aa6eXzrulmm-DQrmn_IGLne4uZG3zNGQJ01Y7K4mIL9XlapjbGhusatywyYnm-bsHe_djPpPVyd7cYRRbEolz2QR0GI8Lq-q85f-p8TBQVUpa_1CCU2gIz2cg8PGUSvk3UmKW27ObvdCZUitX3CCpR1fvW68ry20545Wp6RsE1voysiL3sOmOAHxfKbN6413sGopRi1HsAY53j-bU4WadQfO_ht2zUEfV5BA4GT_Fu4QugRhQnF__ZzFuErevvhX5Kypd-09NNZHGz2RWUcVknvZyhygXgWM6qyk3CXCeCdHtz3zTUwiCM26Uw2pgM3PclBsKioRABeQRuqhI5wlzxObKNDmwmpbng1dyfYNB2D4IdLq6iZLKP3ZphK1bDYu9__OotsbO_tSPs0_WY27LDhGDrf9jFQyRuHXyfYCIsauLePwn14YE0waHrZI67RcAnhkAHyEZMNNy1THrtPgAGWbwk7qre-t9PpUvZqu3uy9lHN7hG7s7Ra4TDtqd68wQrcVMOkWRqHxfVjiW2sC9vJ1OGDMlP9YGMkPVZK-KbyMOCoSmxprQKVMZaz-Lpsmtu2kRZ25uzt9KnCjEw7hi0wgZ3gIDkGwMsoVc5lh9BtjXUZczaX1ks93l_3s7TF-mCQFzg535q4ApJoN2g6Asf579X80OxBUBTJO0WOowjsP1MUcO8Jo2aPQfMedwqoHptcZdktgOC7dfaHo6XsnOQWvyoDJpAuroSF6_l7CBkBiEB0GUw3DyFtEoko3ru2eIjU6MhUKNlpM16XBoJKxEWJyRR_n-orC9aHmi11sew-_miWvT0Tw13zKz71lVDpjKg5FALaGcXXuzlXtopLmVtQvtZ2a1PS22U_XSPxH5848DUj1i62TWH2EjkgZe22U2A6nO8hOVo2ByQgY7D107i_yZL7eofgM_SCE-YBGgtmYjginBdEewRDufK4wQS9GUtPY8nRXZkT99suLCRbE2_oTwFlQ4E73qnap5D8qvGozqais6WqpXVXWScrbY76fgPkbd0MMyZ1EZMHRmzsDb2Eg5QVhkcxTa5OCPIcomKS4BP5eYnwNSRPfeZN7taP82k8FGjXHLvcODwHOSJy0VN7lRlfrnvlWnVtJopc1VVA-zLX6nAEOGuHUA8-9omcjTH5sSmTWxyVEnweFPF0QHMIPt09m-g21pziHJ50VF7nD7TQNQ', 'current', NULL, 1795790912552);
INSERT INTO public.gateway_email_domain_key VALUES ('01a21d7a-bc29-712d-bd89-a15b75bb6cf5', '01a21d7a-bb9f-772a-b187-5da461ca8457', 'ed25519', 'dundun-e-c1989037', 'LTSZn5Xr1l0HsHKYG/3DMCmyxfD3EBiCimPheK7qL4c=', 'enc1.b28bfe26.bTky2yyds8vex06q-m0Z3YlskpbLYe-mTG7xuamhvpHbkLZOExPCgfTpicpqvPp-jo4_glvQ3oavtKJEJvQiWsuF0UO2ymk1QPwN6i2Uy4F9JSRAfC8KrodRlilB7YQUJaRtApEJoS00yyQhYT4WwD9qEjZ7FhcvZdNBDgTNvPCK0GhDP-CQia4ZHf8ZU29tndsI', 'current', NULL, 1795790912553);
INSERT INTO public.gateway_secrets_key VALUES ('current', 'enc1.b28bfe26.WR59mB6AnaLw-NnmXx32WWi8EA8Jx53LXlXHiqmQoi0oLQ', 0);
INSERT INTO public.gateway_sender VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'ACME', 'approved');
INSERT INTO public.gateway_sender VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'ACMENEWS', 'approved');
INSERT INTO public.gateway_sender VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H', 'ACME', 'approved');
INSERT INTO public.gateway_session VALUES ('b51febac1f46f6f1e7eb8f7fe27494ec893a6531f24385b2d2e7897b68825a08', 'usr_test2', 'acc_vu3AmU1wja9MvmSngKwVfH', 1795790912240, 1795790912240);
INSERT INTO public.gateway_smpp_credential VALUES ('smppDUTdtvzj', 'acc_vu3AmU1wja9MvmSngKwVfH', 'scrypt$32768$8$3$dyOicEJtIA-s6uhnS00-9g$6V_fPX2c6BysVd1vvRIPavRG9sSmfJV2am0j4pt2QpU', 1795790915554, NULL);
INSERT INTO public.gateway_user VALUES ('usr_test2', 'operator-2@example.com', 'scrypt$32768$8$3$YOf6DlipfBaY16PbZYd94g$jMtcGZWU5riQWDfKvWUJy4gplU6KHnhcVrbtspmc3d4', 1, 1795790912207, 1795790912240);
INSERT INTO public.gateway_user_link VALUES ('lnk_rFOY8AaP3XuEisNSuZt4Vr', '94ab1747877e4efc17df65ed3dc6c212fdae2c3a923265ee397ebbf47c4bb53d', 'first', 'acc_vu3AmU1wja9MvmSngKwVfH', 'admin', 1, NULL, NULL, 1795790912190, 1795794512190, NULL);
INSERT INTO public.gateway_webhook_attempt VALUES (1, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc3-77ad-9a8c-3a2eed965cf0', '01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211-0', 1, 1795790912784, 5, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (2, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc3-77ad-9a8c-3f6c1a8eb3ce', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 1, 1795790912785, 11, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (3, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-36a9e86d917a', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 1, 1795790912785, 19, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (4, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-3b7979f8bc39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 1, 1795790912785, 20, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (5, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-3f37ff4d7b03', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 1, 1795790912785, 31, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (6, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-43c8eec3e22d', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 1, 1795790912785, 32, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (7, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd1c-7335-9349-ab2348d189be', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 1, 1795790912816, 2, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (8, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3c-7143-b280-f6386a1f2624', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 1, 1795790912839, 13, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (9, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3f-723a-8c64-1f411a24bc3e', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 1, 1795790912839, 13, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (10, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3f-723a-8c64-2346f8353aaf', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 1, 1795790912839, 13, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (11, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd4f-7405-a021-1bda492a3f2c', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 1, 1795790912856, 4, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (12, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd4f-7405-a021-1c366f989262', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 1, 1795790912856, 4, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (13, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd74-73dd-9917-a760aeec7388', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 1, 1795790912904, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (14, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd94-713a-ab24-0c626ab71338', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 1, 1795790912919, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (15, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd9c-772f-bc41-a49160e81302', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 1, 1795790912953, 10, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (16, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-be37-726a-a0ea-1261fb33c426', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 1, 1795790913088, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (17, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-be58-7450-baee-a39f742ead81', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 1, 1795790913116, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (18, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c184-701d-af09-b1160368e3d6', 'wamid.6NsLJw3CY2st9grHU3Tz_TdyhwO6dj4u', 1, 1795790913952, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (19, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c215-7080-85e6-b69e7ebd7798', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 1, 1795790914092, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (20, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c22d-750e-9a0e-21a02d18d30b', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 1, 1795790914106, 3, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (21, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c2a7-72bc-8629-1ee2a3bda73f', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 1, 1795790914235, 10, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (22, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c2cb-7449-b947-ac19d16443c2', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 1, 1795790914268, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (23, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c4d0-71d0-a74c-6690dd08ebb5', '01a21d7a-c494-722b-850c-d3a63d4be8a6-0', 1, 1795790914816, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (24, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c4ef-766a-9c07-744ca7f42ef1', '01a21d7a-c4a9-732d-9c1d-ab9b60072ab1-0', 1, 1795790914828, 32, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (25, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c536-77df-bb73-809a2875cbfd', '01a21d7a-c494-722b-850c-d3a63d4be8a6-0', 1, 1795790914877, 8, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (26, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c668-70ca-835a-5b75fd15f05b', '01a21d7a-c611-7071-8c57-ecc112892056-0', 1, 1795790915187, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (27, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd1c-7335-9349-ab2348d189be', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 2, 1795790917884, 7, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (28, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd4f-7405-a021-1bda492a3f2c', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 2, 1795790917885, 17, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (29, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc3-77ad-9a8c-3f6c1a8eb3ce', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 2, 1795790917897, 5, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (30, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3f-723a-8c64-1f411a24bc3e', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 2, 1795790917902, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (31, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-3f37ff4d7b03', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 2, 1795790917975, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (32, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-36a9e86d917a', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 2, 1795790918019, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (33, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd74-73dd-9917-a760aeec7388', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 2, 1795790918065, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (34, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd4f-7405-a021-1c366f989262', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 2, 1795790918098, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (35, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd9c-772f-bc41-a49160e81302', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 2, 1795790918098, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (36, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd94-713a-ab24-0c626ab71338', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 2, 1795790918100, 0, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (37, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc3-77ad-9a8c-3a2eed965cf0', '01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211-0', 2, 1795790918148, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (38, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3c-7143-b280-f6386a1f2624', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 2, 1795790918179, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (39, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-be37-726a-a0ea-1261fb33c426', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 2, 1795790918179, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (40, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-3b7979f8bc39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 2, 1795790918204, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (41, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd3f-723a-8c64-2346f8353aaf', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 2, 1795790918230, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (42, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcc4-737d-8e74-43c8eec3e22d', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 2, 1795790918299, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (43, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-be58-7450-baee-a39f742ead81', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 2, 1795790918401, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (44, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c184-701d-af09-b1160368e3d6', 'wamid.6NsLJw3CY2st9grHU3Tz_TdyhwO6dj4u', 2, 1795790919149, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (45, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c22d-750e-9a0e-21a02d18d30b', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 2, 1795790919164, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (46, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c215-7080-85e6-b69e7ebd7798', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 2, 1795790919410, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (47, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c2a7-72bc-8629-1ee2a3bda73f', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 2, 1795790919441, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_attempt VALUES (48, '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c2cb-7449-b947-ac19d16443c2', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 2, 1795790919562, 1, 500, 'http_status', 'not today');
INSERT INTO public.gateway_webhook_delivery VALUES (7, '01a21d7a-bd1c-7335-9349-ab2348d189be', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.796Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-0","to":"2348012345601","from":"ACME","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.711Z","sequence":2}}', 1795790912796, 2, 2, 1795791222039, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (2, '01a21d7a-bcc3-77ad-9a8c-3f6c1a8eb3ce', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-0', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-0","to":"2348012345601","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791246514, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (5, '01a21d7a-bcc4-737d-8e74-3f37ff4d7b03', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-3","to":"2348012349901","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791223428, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (3, '01a21d7a-bcc4-737d-8e74-36a9e86d917a', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-1","to":"2348012345602","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791233035, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (12, '01a21d7a-bd4f-7405-a021-1c366f989262', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-3', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.846Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-3","to":"2348012349901","from":"ACME","status":"undelivered","error_code":"absent_subscriber","smsc_timestamp":"2026-11-27T14:48:32.689Z","sequence":2}}', 1795790912846, 2, 2, 1795791236191, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (14, '01a21d7a-bd94-713a-ab24-0c626ab71338', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 3, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:32.916Z","data":{"reference_id":"01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0","message_id":"wamid.tz2U500FV_kBZofrXQDOR1x_ESOLfxtL","to":"2348012349910","from":"2340996527194","status":"read","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.810Z","sequence":3}}', 1795790912916, 2, 2, 1795791244851, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (15, '01a21d7a-bd9c-772f-bc41-a49160e81302', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 1, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:32.924Z","data":{"reference_id":"01a21d7a-bd76-7264-9234-5019b06c7d0d-0","message_id":"wamid.87BPDZVF4HPs4UsDEF3DB2tBDtG2kDeJ","to":"2348012345611","from":"2340996527194","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.917Z","sequence":1}}', 1795790912924, 2, 2, 1795791237516, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (1, '01a21d7a-bcc3-77ad-9a8c-3a2eed965cf0', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211-0', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211","message_id":"01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211-0","to":"2348012349903","from":"ACME","status":"rejected","error_code":"destination_refused","smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791241982, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (8, '01a21d7a-bd3c-7143-b280-f6386a1f2624', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 1, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:32.828Z","data":{"reference_id":"01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0","message_id":"wamid.tz2U500FV_kBZofrXQDOR1x_ESOLfxtL","to":"2348012349910","from":"2340996527194","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.805Z","sequence":1}}', 1795790912828, 2, 2, 1795791242036, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (4, '01a21d7a-bcc4-737d-8e74-3b7979f8bc39', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-2","to":"2348012345603","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791221170, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (10, '01a21d7a-bd3f-723a-8c64-2346f8353aaf', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.831Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-4","to":"2348012349902","from":"ACME","status":"expired","error_code":"validity_expired","smsc_timestamp":"2026-11-27T14:48:32.718Z","sequence":2}}', 1795790912831, 2, 2, 1795791228192, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (6, '01a21d7a-bcc4-737d-8e74-43c8eec3e22d', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-4', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.707Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-4","to":"2348012349902","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.693Z","sequence":1}}', 1795790912707, 2, 2, 1795791225062, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (17, '01a21d7a-be58-7450-baee-a39f742ead81', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 3, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:33.112Z","data":{"reference_id":"01a21d7a-bd76-7264-9234-5019b06c7d0d-0","message_id":"wamid.87BPDZVF4HPs4UsDEF3DB2tBDtG2kDeJ","to":"2348012345611","from":"2340996527194","status":"read","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.929Z","sequence":3}}', 1795790913112, 2, 2, 1795791220001, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (18, '01a21d7a-c184-701d-af09-b1160368e3d6', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', 'wamid.6NsLJw3CY2st9grHU3Tz_TdyhwO6dj4u', 1, '{"type":"whatsapp.message_received","timestamp":"2026-11-27T14:48:33.923Z","data":{"message_id":"wamid.6NsLJw3CY2st9grHU3Tz_TdyhwO6dj4u","from":"2348012349910","bsuid":null,"to":"2340996527194","text":"Hello","received_at":"2026-11-27T14:48:33.877Z"}}', 1795790913923, 2, 2, 1795791220869, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (24, '01a21d7a-c4ef-766a-9c07-744ca7f42ef1', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c4a9-732d-9c1d-ab9b60072ab1-0', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:34.799Z","data":{"reference_id":"01a21d7a-c4a9-732d-9c1d-ab9b60072ab1","message_id":"01a21d7a-c4a9-732d-9c1d-ab9b60072ab1-0","to":"233201234502","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:34.796Z","sequence":1}}', 1795790914799, 1, 1, 1795790919902, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (25, '01a21d7a-c536-77df-bb73-809a2875cbfd', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c494-722b-850c-d3a63d4be8a6-0', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:34.870Z","data":{"reference_id":"01a21d7a-c494-722b-850c-d3a63d4be8a6","message_id":"01a21d7a-c494-722b-850c-d3a63d4be8a6-0","to":"233201234501","from":"ACME","status":"delivered","error_code":null,"smsc_timestamp":"2026-01-02T03:04:05.678Z","sequence":2}}', 1795790914870, 1, 1, 1795790920337, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (13, '01a21d7a-bd74-73dd-9917-a760aeec7388', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0', 2, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:32.884Z","data":{"reference_id":"01a21d7a-bcde-71bc-85e1-ab14c4b6d784-0","message_id":"wamid.tz2U500FV_kBZofrXQDOR1x_ESOLfxtL","to":"2348012349910","from":"2340996527194","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.809Z","sequence":2}}', 1795790912884, 2, 2, 1795791238389, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (16, '01a21d7a-be37-726a-a0ea-1261fb33c426', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bd76-7264-9234-5019b06c7d0d-0', 2, '{"type":"whatsapp.message_status","timestamp":"2026-11-27T14:48:33.079Z","data":{"reference_id":"01a21d7a-bd76-7264-9234-5019b06c7d0d-0","message_id":"wamid.87BPDZVF4HPs4UsDEF3DB2tBDtG2kDeJ","to":"2348012345611","from":"2340996527194","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.928Z","sequence":2}}', 1795790913079, 2, 2, 1795791237853, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (20, '01a21d7a-c22d-750e-9a0e-21a02d18d30b', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 1, '{"type":"email.sent","timestamp":"2026-11-27T14:48:34.093Z","data":{"reference_id":"01a21d7a-c1f7-7052-87a1-30f997388223","message_id":"01a21d7a-c1f7-7052-87a1-30f997388223-0","to":"bounced@example.com","from":"hello@demo.test","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:34.080Z","sequence":1,"tags":["orders"],"metadata":{},"bounce":null}}', 1795790914093, 2, 2, 1795791236197, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (19, '01a21d7a-c215-7080-85e6-b69e7ebd7798', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 1, '{"type":"email.sent","timestamp":"2026-11-27T14:48:34.069Z","data":{"reference_id":"01a21d7a-c1e0-742f-9981-94c05428dfd9","message_id":"01a21d7a-c1e0-742f-9981-94c05428dfd9-0","to":"ada@example.com","from":"hello@demo.test","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:34.056Z","sequence":1,"tags":["orders"],"metadata":{},"bounce":null}}', 1795790914069, 2, 2, 1795791237171, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (21, '01a21d7a-c2a7-72bc-8629-1ee2a3bda73f', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c1f7-7052-87a1-30f997388223-0', 2, '{"type":"email.bounced","timestamp":"2026-11-27T14:48:34.215Z","data":{"reference_id":"01a21d7a-c1f7-7052-87a1-30f997388223","message_id":"01a21d7a-c1f7-7052-87a1-30f997388223-0","to":"bounced@example.com","from":"hello@demo.test","status":"bounced","error_code":"5.1.1","smsc_timestamp":"2026-11-27T14:48:34.102Z","sequence":2,"tags":["orders"],"metadata":{},"bounce":{"category":"recipient","smtp_code":550,"enhanced_code":"5.1.1","diagnostic":"550 5.1.1 No such user here","remote_mta":"mx.simulator.test"}}}', 1795790914215, 2, 2, 1795791227732, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (22, '01a21d7a-c2cb-7449-b947-ac19d16443c2', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c1e0-742f-9981-94c05428dfd9-0', 2, '{"type":"email.delivered","timestamp":"2026-11-27T14:48:34.251Z","data":{"reference_id":"01a21d7a-c1e0-742f-9981-94c05428dfd9","message_id":"01a21d7a-c1e0-742f-9981-94c05428dfd9-0","to":"ada@example.com","from":"hello@demo.test","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:34.065Z","sequence":2,"tags":["orders"],"metadata":{},"bounce":null}}', 1795790914251, 2, 2, 1795791231347, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (23, '01a21d7a-c4d0-71d0-a74c-6690dd08ebb5', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c494-722b-850c-d3a63d4be8a6-0', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:34.768Z","data":{"reference_id":"01a21d7a-c494-722b-850c-d3a63d4be8a6","message_id":"01a21d7a-c494-722b-850c-d3a63d4be8a6-0","to":"233201234501","from":"ACME","status":"sent","error_code":null,"smsc_timestamp":"2026-11-27T14:48:34.754Z","sequence":1}}', 1795790914768, 1, 1, 1795790920024, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (26, '01a21d7a-c668-70ca-835a-5b75fd15f05b', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-c611-7071-8c57-ecc112892056-0', 1, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:35.176Z","data":{"reference_id":"01a21d7a-c611-7071-8c57-ecc112892056","message_id":"01a21d7a-c611-7071-8c57-ecc112892056-0","to":"2348012349903","from":"ACME","status":"rejected","error_code":"destination_refused","smsc_timestamp":"2026-11-27T14:48:35.140Z","sequence":1}}', 1795790915176, 1, 1, 1795790920527, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (9, '01a21d7a-bd3f-723a-8c64-1f411a24bc3e', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-1', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.831Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-1","to":"2348012345602","from":"ACME","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.722Z","sequence":2}}', 1795790912831, 2, 2, 1795791233538, NULL);
INSERT INTO public.gateway_webhook_delivery VALUES (11, '01a21d7a-bd4f-7405-a021-1bda492a3f2c', '01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-bc51-71aa-848e-c991fab1b2c8-2', 2, '{"type":"sms.delivery_report","timestamp":"2026-11-27T14:48:32.846Z","data":{"reference_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8","message_id":"01a21d7a-bc51-71aa-848e-c991fab1b2c8-2","to":"2348012345603","from":"ACME","status":"delivered","error_code":null,"smsc_timestamp":"2026-11-27T14:48:32.711Z","sequence":2}}', 1795790912846, 2, 2, 1795791239251, NULL);
INSERT INTO public.gateway_webhook_endpoint VALUES ('01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', 'acc_vu3AmU1wja9MvmSngKwVfH', 0, 'http://127.0.0.1:37309/hooks', 'enc1.b28bfe26.oXCGakynTOVgfQ2faFZafJHt3KUYCD_ljjBi0Hwz2xrqCMNB2QxCvqWJdnB5SiOzh7FRophMFwNCbMzxBlxKka1rBPzdcjFXqNGH5MTh', NULL, NULL, NULL, NULL, NULL, 1795790912784, 1795790912271);
INSERT INTO public.gateway_whatsapp_number VALUES ('2340996527194', 'acc_vu3AmU1wja9MvmSngKwVfH', 1795790912172, NULL, NULL, NULL);
INSERT INTO public.gateway_whatsapp_number VALUES ('2340738182569', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 1795790914661, NULL, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'order_update', 'en', 'utility', 'approved', 2, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'special_offer', 'en', 'marketing', 'approved', 1, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'login_code', 'en', 'authentication', 'approved', 1, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H', 'order_update', 'en', 'utility', 'approved', 2, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H', 'special_offer', 'en', 'marketing', 'approved', 1, NULL, NULL);
INSERT INTO public.gateway_whatsapp_template VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H', 'login_code', 'en', 'authentication', 'approved', 1, NULL, NULL);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-bc7e-71ba-99e0-7da35a142909', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"See you tomorrow"}', 1, 1, 1, 0, 0, 1795790912638000, 5680314000000000, 5680314000000000, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Your order 1001 is on its way. Track it at acme.test/1001"}', 1, 1, 5, 0, 0, 1795790912593000, NULL, 1795790912598540, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790912693000, 1795790972693000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Your code is 4711"}', 1, 1, 1, 0, 0, 1795790912618000, NULL, 1795790912629601, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790912693000, 1795790972693000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 'acc_vu3AmU1wja9MvmSngKwVfH', 'whatsapp', 'acc_vu3AmU1wja9MvmSngKwVfH:whatsapp', 1, '2340996527194', '{"kind":"template","template":"order_update","language":"en","params":["Ada","1001"],"category":"utility"}', 1, 0, 1, 0, 0, 1795790912734000, NULL, 1795790912738664, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790912805000, 1795790972805000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-bd76-7264-9234-5019b06c7d0d', 'acc_vu3AmU1wja9MvmSngKwVfH', 'whatsapp', 'acc_vu3AmU1wja9MvmSngKwVfH:whatsapp', 1, '2340996527194', '{"kind":"template","template":"order_update","language":"en","params":["Ada","1001"],"category":"utility"}', 1, 0, 1, 0, 0, 1795790912886000, NULL, 1795790912893494, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790912917000, 1795790972917000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c1e0-742f-9981-94c05428dfd9', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 1, 'hello@demo.test', '{"kind":"email","from":{"email":"hello@demo.test","name":"Acme"},"to":[{"email":"ada@example.com"}],"subject":"Order 1001 is on its way","text":"Order 1001 left our warehouse this morning.","html":"<h1 style=\"color:#4338ca\">Your order is on its way</h1>\n<p style=\"font-family:sans-serif\">Order <b>1001</b> left our warehouse this morning.</p>","$labels":{"tags":["orders"],"metadata":{}}}', 1, 0, 1, 1, 0, 1795790914016000, NULL, 1795790914020567, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914056000, 1795790974056000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c1f7-7052-87a1-30f997388223', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 1, 'hello@demo.test', '{"kind":"email","from":{"email":"hello@demo.test","name":"Acme"},"to":[{"email":"bounced@example.com"}],"subject":"Order 1001 is on its way","text":"Order 1001 left our warehouse this morning.","html":"<h1 style=\"color:#4338ca\">Your order is on its way</h1>\n<p style=\"font-family:sans-serif\">Order <b>1001</b> left our warehouse this morning.</p>","$labels":{"tags":["orders"],"metadata":{}}}', 1, 0, 1, 1, 0, 1795790914039000, NULL, 1795790914048205, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914080000, 1795790974080000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c259-77ae-a3d5-4b14d42936b7', 'acc_vu3AmU1wja9MvmSngKwVfH', 'voice', 'acc_vu3AmU1wja9MvmSngKwVfH:voice', 1, '2348000000001', '{"kind":"call","text":"Press one","repeat":1,"ringTimeout":30000,"maxDuration":600000,"machine":"play","collect":{"maxDigits":1,"timeout":5000},"category":"transactional"}', 0, 0, 1, 0, 0, 1795790914137000, NULL, 1795790914138505, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914192000, 1795790974192000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c26a-729a-9189-dcb8b87756bc', 'acc_vu3AmU1wja9MvmSngKwVfH', 'voice', 'acc_vu3AmU1wja9MvmSngKwVfH:voice', 1, '2348000000001', '{"kind":"call","text":"Press one","repeat":1,"ringTimeout":30000,"maxDuration":600000,"machine":"play","collect":{"maxDigits":1,"timeout":5000},"category":"transactional"}', 0, 0, 1, 0, 0, 1795790914154000, NULL, 1795790914168653, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914213000, 1795790974213000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c283-771c-abdd-b1c7174ca265', 'acc_vu3AmU1wja9MvmSngKwVfH', 'vas', 'acc_vu3AmU1wja9MvmSngKwVfH:vas', 1, '', '{"kind":"vas.airtime","product":"airtime-ng","amount":"100","currency":"NGN","network":null,"key":"dundun-43ee9d4c53557e447f5312a96bea68b58269686e"}', 0, 0, 1, 0, 0, 1795790914179000, NULL, 1795790914204744, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914281000, 1795790974281000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c2b3-74a3-ae55-c8ab065bf9bf', 'acc_vu3AmU1wja9MvmSngKwVfH', 'vas', 'acc_vu3AmU1wja9MvmSngKwVfH:vas', 1, '', '{"kind":"vas.airtime","product":"airtime-ng","amount":"100","currency":"NGN","network":null,"key":"dundun-2300db26c43ae31a990ea881689067e0035b0280"}', 0, 0, 1, 0, 0, 1795790914227000, NULL, 1795790914246819, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914281000, 1795790919281000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 0, 'ACME', '{"kind":"text","text":"203855 is your code. It is valid for 10 minutes. Do not share it.","secret":true}', 0, 1, 1, 0, 0, 1795790914313000, NULL, 1795790914320833, 1795791514320840, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914376000, 1795790974376000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c355-729c-b826-31cb3da29b0c', 'acc_vu3AmU1wja9MvmSngKwVfH', 'voice', 'acc_vu3AmU1wja9MvmSngKwVfH:voice', 0, '2348000000001', '{"kind":"call","code":"423697","repeat":1,"ringTimeout":30000,"maxDuration":600000,"machine":"play","category":"transactional","secret":true}', 0, 0, 1, 0, 0, 1795790914389000, NULL, 1795790914392416, 1795791514392419, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914429000, 1795790974429000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 0, 'codes@demo.test', '{"kind":"email","from":{"email":"codes@demo.test"},"subject":"Your code","text":"547270 is your code. It is valid for 10 minutes. Do not share it.","secret":true}', 0, 0, 1, 0, 0, 1795790914424000, NULL, 1795790914428246, 1795791514428253, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914473000, 1795790974473000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c494-722b-850c-d3a63d4be8a6', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790914708000, NULL, 1795790914709731, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914754000, 1795790974754000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c4a9-732d-9c1d-ab9b60072ab1', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790914729000, NULL, 1795790914731331, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790914796000, 1795790974796000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c596-73cb-96f9-df1ef55b8ddc', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790914966000, NULL, 1795790914979645, NULL, 4, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c5b4-754d-bd4f-3e150032374c', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 1, 'hello@demo.test', '{"kind":"email","from":{"email":"hello@demo.test","name":"Acme"},"to":[{"email":"lost@example.com"}],"subject":"Order","text":"Packed."}', 1, 0, 1, 0, 0, 1795790914996000, NULL, 1795790915010124, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790915045000, 1795790920045000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c611-7071-8c57-ecc112892056', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Your code is 4711"}', 1, 1, 1, 0, 0, 1795790915088000, NULL, 1795790915090594, NULL, 5, 0, 0, NULL, NULL, NULL, NULL, 1795790915140000, 1795790975140000, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-c55f-77ce-b63c-992543ead5b0', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790914911000, 5680281600000000, 5680281600000000, NULL, 6, 0, 1, NULL, NULL, NULL, NULL, 1795790914928000, NULL, 1);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d7b0-75df-9c09-131b93466998', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 'sms', 'acc_yu9J6xrWz7d5R8ASiL8X5H:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790919600000, NULL, 1795790919603339, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d7c2-73cd-91e4-60297659f28a', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 'sms', 'acc_yu9J6xrWz7d5R8ASiL8X5H:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 0, 1, 1, 0, 0, 1795790919618000, NULL, 1795790919628170, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d7d4-7354-bb79-f12ba893c854', 'acc_yu9J6xrWz7d5R8ASiL8X5H', 'sms', 'acc_yu9J6xrWz7d5R8ASiL8X5H:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790919636000, NULL, 1795790919637391, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d7e6-776a-8d04-683d30ebb383', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 1, 'hello@demo.test', '{"kind":"email","from":{"email":"hello@demo.test","name":"Acme"},"to":[{"email":"ada@example.com"},{"email":"bo@example.com"}],"subject":"Order","text":"Packed.","attachments":[{"filename":"a.txt","contentType":"text/plain","size":5,"sha256":"185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"}],"$labels":{"tags":["orders","fixture"],"metadata":{}}}', 1, 0, 2, 1, 0, 1795790919654000, NULL, 1795790919658115, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d7fc-73ff-8861-a802b0064b37', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', 'acc_vu3AmU1wja9MvmSngKwVfH:email', 1, 'hello@demo.test', '{"kind":"email","from":{"email":"hello@demo.test","name":"Acme"},"subject":"Order","text":"Packed."}', 1, 0, 1, 0, 0, 1795790919676000, NULL, 1795790919677804, 1798382919677811, 0, 0, 0, NULL, NULL, NULL, '01a21d7a-d7fb-727c-97ef-9edfed51b294', NULL, NULL, 0);
INSERT INTO public.messaging_batch VALUES ('01a21d7a-d808-7180-85e9-f20e6f078fd4', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'acc_vu3AmU1wja9MvmSngKwVfH:sms', 1, 'ACME', '{"kind":"text","text":"Hello"}', 1, 1, 1, 0, 0, 1795790919688000, NULL, 1795790919692447, NULL, 4, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.messaging_batch_attachment VALUES ('01a21d7a-d7e6-776a-8d04-683d30ebb383', '185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969', 0, '\x48656c6c6f');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 0, '2348012345601
2348012345602
2348012345603
2348012349901
2348012349902');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 0, '2348012349903');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-bc7e-71ba-99e0-7da35a142909', 0, '2348012345601');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, '2348012349910');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, '2348012345611');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 'ada@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c1f7-7052-87a1-30f997388223', 0, 'bounced@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, '2348012349912');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c26a-729a-9189-dcb8b87756bc', 0, '2348012349901');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c283-771c-abdd-b1c7174ca265', 0, '2348012345621');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c2b3-74a3-ae55-c8ab065bf9bf', 0, '2348012349909');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 0, '2348012345631');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c355-729c-b826-31cb3da29b0c', 0, '2348012345632');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 0, 'bo@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c494-722b-850c-d3a63d4be8a6', 0, '233201234501');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c4a9-732d-9c1d-ab9b60072ab1', 0, '233201234502');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c55f-77ce-b63c-992543ead5b0', 0, '2348012345601');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c596-73cb-96f9-df1ef55b8ddc', 0, '2348012349909');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c5b4-754d-bd4f-3e150032374c', 0, 'lost@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-c611-7071-8c57-ecc112892056', 0, '2348012349903');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d7b0-75df-9c09-131b93466998', 0, '2348012345678');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d7c2-73cd-91e4-60297659f28a', 0, '233201234504');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d7d4-7354-bb79-f12ba893c854', 0, '2348012349901');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d7e6-776a-8d04-683d30ebb383', 0, 'ada@example.com
bo@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d7fc-73ff-8861-a802b0064b37', 0, 'cy@example.com');
INSERT INTO public.messaging_batch_chunk VALUES ('01a21d7a-d808-7180-85e9-f20e6f078fd4', 0, '233201234505');
INSERT INTO public.messaging_batch_label VALUES ('01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 'acc_vu3AmU1wja9MvmSngKwVfH', 'orders', '{"tags":["orders"],"metadata":{}}');
INSERT INTO public.messaging_batch_label VALUES ('01a21d7a-c1f7-7052-87a1-30f997388223', 0, 'acc_vu3AmU1wja9MvmSngKwVfH', 'orders', '{"tags":["orders"],"metadata":{}}');
INSERT INTO public.messaging_batch_label VALUES ('01a21d7a-d7e6-776a-8d04-683d30ebb383', 0, 'acc_vu3AmU1wja9MvmSngKwVfH', 'orders', '{"tags":["orders","fixture"],"metadata":{}}');
INSERT INTO public.messaging_batch_label VALUES ('01a21d7a-d7e6-776a-8d04-683d30ebb383', 1, 'acc_vu3AmU1wja9MvmSngKwVfH', 'fixture', NULL);
INSERT INTO public.messaging_consent VALUES ('01a21d7a-bca7-70ba-9f18-8f40ca34e22f', 'whatsapp', '*', 'opted_in', 1795790912696000, 'api', NULL);
INSERT INTO public.messaging_consent VALUES ('01a21d7a-bd55-74dd-9d05-8b5faa43661d', 'whatsapp', '*', 'opted_in', 1795790912868000, 'api', NULL);
INSERT INTO public.messaging_consent_history VALUES ('01a21d7a-bcbd-70b8-b4d0-7f36badc0048', '01a21d7a-bca7-70ba-9f18-8f40ca34e22f', 'whatsapp', '*', 'opted_in', 1795790912696000, 'api', NULL, 1795790912701000);
INSERT INTO public.messaging_consent_history VALUES ('01a21d7a-bd65-72cd-a1c8-a4ee67f7f343', '01a21d7a-bd55-74dd-9d05-8b5faa43661d', 'whatsapp', '*', 'opted_in', 1795790912868000, 'api', NULL, 1795790912869000);
INSERT INTO public.messaging_contact VALUES ('01a21d7a-bb4c-76fe-9ab0-3c6241ef4d81', 'acc_vu3AmU1wja9MvmSngKwVfH', NULL, 1795790912334000);
INSERT INTO public.messaging_contact VALUES ('01a21d7a-bb4c-76fe-9ab0-41313ab96a42', 'acc_vu3AmU1wja9MvmSngKwVfH', NULL, 1795790912334000);
INSERT INTO public.messaging_contact VALUES ('01a21d7a-bb4c-76fe-9ab0-4456c06dcb0f', 'acc_vu3AmU1wja9MvmSngKwVfH', NULL, 1795790912334000);
INSERT INTO public.messaging_contact VALUES ('01a21d7a-bca7-70ba-9f18-8f40ca34e22f', 'acc_vu3AmU1wja9MvmSngKwVfH', NULL, 1795790912680000);
INSERT INTO public.messaging_contact VALUES ('01a21d7a-bd55-74dd-9d05-8b5faa43661d', 'acc_vu3AmU1wja9MvmSngKwVfH', NULL, 1795790912855000);
INSERT INTO public.messaging_contact_address VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345601', 'phone', '01a21d7a-bb4c-76fe-9ab0-3c6241ef4d81', 1795790912332000);
INSERT INTO public.messaging_contact_address VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345602', 'phone', '01a21d7a-bb4c-76fe-9ab0-41313ab96a42', 1795790912332000);
INSERT INTO public.messaging_contact_address VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345603', 'phone', '01a21d7a-bb4c-76fe-9ab0-4456c06dcb0f', 1795790912332000);
INSERT INTO public.messaging_contact_address VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012349910', 'phone', '01a21d7a-bca7-70ba-9f18-8f40ca34e22f', 1795790912681000);
INSERT INTO public.messaging_contact_address VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345611', 'phone', '01a21d7a-bd55-74dd-9d05-8b5faa43661d', 1795790912856000);
INSERT INTO public.messaging_contact_group VALUES ('grp_HnCdKVt9E60sMznwEw4gGY', 'acc_vu3AmU1wja9MvmSngKwVfH', 'Spring customers', 1795790912304000);
INSERT INTO public.messaging_group_member VALUES ('grp_HnCdKVt9E60sMznwEw4gGY', '01a21d7a-bb4c-76fe-9ab0-3c6241ef4d81');
INSERT INTO public.messaging_group_member VALUES ('grp_HnCdKVt9E60sMznwEw4gGY', '01a21d7a-bb4c-76fe-9ab0-41313ab96a42');
INSERT INTO public.messaging_group_member VALUES ('grp_HnCdKVt9E60sMznwEw4gGY', '01a21d7a-bb4c-76fe-9ab0-4456c06dcb0f');
INSERT INTO public.messaging_hold VALUES ('acc_yu9J6xrWz7d5R8ASiL8X5H:sms', 'operator', 1795790915568000, NULL, 'the fixture keeps it queued');
INSERT INTO public.messaging_hold VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:email', 'operator', 1795790917578000, NULL, 'the fixture keeps it queued');
INSERT INTO public.messaging_inbound_message VALUES ('abeaa322-0bb3-8995-a93b-e61943b43fee', '01a21d7a-c16e-75ea-942b-15659c4e3d5b', 1795790913903000);
INSERT INTO public.messaging_inbound_text VALUES ('01a21d7a-bca7-70ba-9f18-8f40ca34e22f', '01a21d7a-c17e-767a-9a06-7fe6eb1ddb12', 'acc_vu3AmU1wja9MvmSngKwVfH', 'whatsapp', '2348012349910', '2340996527194', 'Hello', 1795790913877000);
INSERT INTO public.messaging_instance VALUES (1, NULL);
INSERT INTO public.messaging_lane VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:whatsapp', NULL, 2, 0, '01a21d7a-b8c9-7775-9b64-0d93e59ddd8d [[147,1],[27,1]]', 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('email-domain:01a21d7a-bb9f-772a-b187-5da461ca8457', NULL, 1, 0, NULL, 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('webhook:01a21d7a-bb0f-7249-a97a-c2fa4deb6d39', '01a21d7a-b971-7488-8a3a-b7759be7e739', 3, 1795790927876460, NULL, 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:vas', NULL, 2, 0, '01a21d7a-b8c9-7775-9b64-0d93e59ddd8d [[88,2]]', 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:voice', NULL, 2, 0, '01a21d7a-b8c9-7775-9b64-0d93e59ddd8d [[272,1],[247,1],[31,1]]', 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:sms', '01a21d7a-b8c9-7775-9b64-0d93e59ddd8d', 8, 1795790949709977, NULL, 0, NULL, 0);
INSERT INTO public.messaging_lane VALUES ('acc_vu3AmU1wja9MvmSngKwVfH:email', NULL, 3, 0, '01a21d7a-b8c9-7775-9b64-0d93e59ddd8d [[986,1],[594,1],[22,1]]', 0, NULL, 0);
INSERT INTO public.messaging_last_inbound VALUES ('01a21d7a-bca7-70ba-9f18-8f40ca34e22f', '', 1795790913877000);
INSERT INTO public.messaging_last_inbound VALUES ('01a21d7a-bca7-70ba-9f18-8f40ca34e22f', '2340996527194', 1795790913877000);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 0, 0, 80, 1, 0, 1, '2348012349903', NULL, 'destination_refused', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 0, 95, 1, 0, 4, '2348012349912', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c26a-729a-9189-dcb8b87756bc', 0, 0, 64, 1, 0, 2, '2348012349901', NULL, 'busy', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c283-771c-abdd-b1c7174ca265', 0, 0, 90, 1, 0, 2, '2348012345621', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 0, 0, 90, 1, 0, 2, '2348012345601', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 1, 0, 90, 1, 0, 2, '2348012345602', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 4, 0, 50, 1, 0, 2, '2348012349902', NULL, 'validity_expired', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 2, 0, 90, 1, 0, 2, '2348012345603', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 3, 0, 60, 1, 0, 2, '2348012349901', NULL, 'absent_subscriber', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, 0, 100, 1, 0, 3, '2348012349910', 'wamid.tz2U500FV_kBZofrXQDOR1x_ESOLfxtL', NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, 0, 100, 1, 0, 3, '2348012345611', 'wamid.87BPDZVF4HPs4UsDEF3DB2tBDtG2kDeJ', NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c1f7-7052-87a1-30f997388223', 0, 0, 105, 1, 0, 2, 'bounced@example.com', NULL, '5.1.1', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c596-73cb-96f9-df1ef55b8ddc', 0, 0, 20, 4, 4, 0, '2348012349909', NULL, 'answer_lost', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 0, 90, 1, 0, 2, 'ada@example.com', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-d808-7180-85e9-f20e6f078fd4', 0, 0, 20, 1, 0, 0, '233201234505', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c2b3-74a3-ae55-c8ab065bf9bf', 0, 0, 30, 1, 0, 0, '2348012349909', NULL, 'answer_lost', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 0, 0, 90, 1, 0, 2, '2348012345631', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 0, 95, 1, 0, 4, '2348012345632', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 0, 0, 90, 1, 0, 2, 'bo@example.com', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c4a9-732d-9c1d-ab9b60072ab1', 0, 0, 40, 1, 0, 1, '233201234502', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c494-722b-850c-d3a63d4be8a6', 0, 0, 90, 1, 0, 2, '233201234501', NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c5b4-754d-bd4f-3e150032374c', 0, 0, 30, 1, 0, 0, 'lost@example.com', NULL, 'answer_lost', NULL, NULL);
INSERT INTO public.messaging_message VALUES ('01a21d7a-c611-7071-8c57-ecc112892056', 0, 0, 80, 1, 0, 1, '2348012349903', NULL, 'destination_refused', NULL, NULL);
INSERT INTO public.messaging_notification VALUES ('01a21d7a-d7fb-727c-97ef-9edfed51b294', 'acc_vu3AmU1wja9MvmSngKwVfH', 'pending', '[{"channel":"email","at":1795790919675,"batch":"01a21d7a-d7fc-73ff-8861-a802b0064b37"},{"channel":"sms"}]', '{"after":2592000000,"unless":"delivered","until":null,"messages":[{"channel":"sms","lane":"acc_vu3AmU1wja9MvmSngKwVfH:sms","class":"normal","sender":"ACME","content":{"kind":"text","text":"Packed."},"deliveryReport":true,"parts":1,"recipients":["2348012345601"]}]}', 1795790919675000, NULL, 1796050119675000, NULL, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (1, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 0, 'sim', NULL, NULL, '2348012349903', 80, 'submit', 'destination_refused', NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (2, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 0, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345601', 40, 'submit', NULL, NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (3, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 1, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345602', 40, 'submit', NULL, NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (4, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 2, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345603', 40, 'submit', NULL, NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (5, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 3, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012349901', 40, 'submit', NULL, NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (6, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 4, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012349902', 40, 'submit', NULL, NULL, 1795790912693000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (7, '01a21d7a-bcc7-8cc9-aa16-f851eee0448e', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 0, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345601', 90, 'DELIVRD', NULL, 1795790912711000, 1795790912768000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (8, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, 'sim', 'sim-18a9a36caf84f2f54deee0146ddb4adb', 'wamid.tz2U500FV_kBZofrXQDOR1x_ESOLfxtL', '2348012349910', 40, 'submit', NULL, NULL, 1795790912805000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (9, '01a21d7a-bcd2-8f4e-a1eb-4b1c5e19ac4a', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 1, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345602', 90, 'DELIVRD', NULL, 1795790912722000, 1795790912787000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (10, '01a21d7a-bcce-86d0-a407-fc7978bf2215', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 4, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012349902', 50, 'EXPIRED', 'validity_expired', 1795790912718000, 1795790912796000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (11, '01a21d7a-bcc7-8084-aa83-5c59018665d1', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 2, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012345603', 90, 'DELIVRD', NULL, 1795790912711000, 1795790912829000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (12, '01a21d7a-bcb1-8c48-a3ae-b74facdaeb45', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bc51-71aa-848e-c991fab1b2c8', 3, 'sim', 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, '2348012349901', 60, 'UNDELIV', 'absent_subscriber', 1795790912689000, 1795790912829000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (13, '01a21d7a-bd29-8bd9-ac21-468721d58290', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, 'sim', 'sim-18a9a36caf84f2f54deee0146ddb4adb', NULL, '2348012349910', 90, 'DELIVRD', NULL, 1795790912809000, 1795790912875000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (14, '01a21d7a-bd2a-828d-ac68-e37c02346768', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, 'sim', 'sim-18a9a36caf84f2f54deee0146ddb4adb', NULL, '2348012349910', 100, 'READ', NULL, 1795790912810000, 1795790912893000, 3, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (15, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, 'sim', 'sim-fb0737c1f0b38453615ebe05cfeec14f', 'wamid.87BPDZVF4HPs4UsDEF3DB2tBDtG2kDeJ', '2348012345611', 40, 'submit', NULL, NULL, 1795790912917000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (16, '01a21d7a-bda0-80e7-a8f9-f1985bd625b5', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, 'sim', 'sim-fb0737c1f0b38453615ebe05cfeec14f', NULL, '2348012345611', 90, 'DELIVRD', NULL, 1795790912928000, 1795790913067000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (17, '01a21d7a-bda1-8149-aeaa-0cb7fe670cf4', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, 'sim', 'sim-fb0737c1f0b38453615ebe05cfeec14f', NULL, '2348012345611', 100, 'READ', NULL, 1795790912929000, 1795790913104000, 3, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (18, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 'sim', 'sim-a73a980a3bc61abb189b1965bdc30d64', NULL, 'ada@example.com', 40, 'submit', NULL, NULL, 1795790914056000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (19, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c1f7-7052-87a1-30f997388223', 0, 'sim', 'sim-cfc1544abf768c9b6b220b30582a1dcd', NULL, 'bounced@example.com', 40, 'submit', NULL, NULL, 1795790914080000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (20, '01a21d7a-c236-860a-a87b-119c39dc8cce', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c1f7-7052-87a1-30f997388223', 0, 'sim', 'sim-cfc1544abf768c9b6b220b30582a1dcd', NULL, 'bounced@example.com', 105, 'failed', '5.1.1', 1795790914102000, 1795790914171000, 2, '{"category":"recipient","smtp_code":550,"enhanced_code":"5.1.1","diagnostic":"550 5.1.1 No such user here","remote_mta":"mx.simulator.test"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (21, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 'sim', 'sim-ac161ccb4b339723ee548a82c4e5b33e', NULL, '2348012349912', 41, 'submit', NULL, NULL, 1795790914192000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (22, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c26a-729a-9189-dcb8b87756bc', 0, 'sim', 'sim-e3a2e12e76e7af0431d0a044c42fa23f', NULL, '2348012349901', 41, 'submit', NULL, NULL, 1795790914213000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (23, '01a21d7a-c211-852c-abb0-89ec7da07f7f', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 'sim', 'sim-a73a980a3bc61abb189b1965bdc30d64', NULL, 'ada@example.com', 90, 'delivered', NULL, 1795790914065000, 1795790914179000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (24, '01a21d7a-c274-8f64-ad1a-cb267a6b2211', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 'sim', 'sim-ac161ccb4b339723ee548a82c4e5b33e', NULL, '2348012349912', 45, 'ringing', NULL, 1795790914164000, 1795790914244000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (25, '01a21d7a-c28e-8e7c-adfc-a7f6d6cc49b4', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 'sim', 'sim-ac161ccb4b339723ee548a82c4e5b33e', NULL, '2348012349912', 91, 'answered', NULL, 1795790914190000, 1795790914261000, 3, '{"answered_at":"2026-11-27T14:48:34.190Z","answered_by":"human"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (26, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c283-771c-abdd-b1c7174ca265', 0, 'sim', 'dundun-43ee9d4c53557e447f5312a96bea68b58269686e', NULL, '2348012345621', 42, 'submit', NULL, NULL, 1795790914281000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (27, '01a21d7a-c28f-811f-a89c-dec8d3449ded', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 'sim', 'sim-ac161ccb4b339723ee548a82c4e5b33e', NULL, '2348012349912', 95, 'completed', NULL, 1795790914191000, 1795790914275000, 4, '{"answered_at":"2026-11-27T14:48:34.190Z","answered_by":"human","ended_at":"2026-11-27T14:48:41.190Z","duration":7,"hangup_cause":"normal_clearing","digits":"1"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (29, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 0, 'sim', 'sim-4834bb3a0794a62c197ae1f17defb583', NULL, '2348012345631', 40, 'submit', NULL, NULL, 1795790914376000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (28, '01a21d7a-c2a7-84ce-a435-13e0aa3aa30b', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c26a-729a-9189-dcb8b87756bc', 0, 'sim', 'sim-e3a2e12e76e7af0431d0a044c42fa23f', NULL, '2348012349901', 64, 'busy', 'busy', 1795790914215000, 1795790914347000, 2, '{"ended_at":"2026-11-27T14:48:34.215Z","duration":0,"hangup_cause":"busy"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (30, '01a21d7a-c2f2-83d9-ab25-0b550006d8c5', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c283-771c-abdd-b1c7174ca265', 0, 'sim', 'dundun-43ee9d4c53557e447f5312a96bea68b58269686e', NULL, '2348012345621', 90, 'SUCCESSFUL', NULL, 1795790914290000, 1795790914375000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (31, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 'sim', 'sim-ca97c628f4a596f1c2a99ad3e840c546', NULL, '2348012345632', 41, 'submit', NULL, NULL, 1795790914429000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (32, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 0, 'sim', 'sim-d8522d6ad484feb37fdbb74ebfd70cf3', NULL, 'bo@example.com', 40, 'submit', NULL, NULL, 1795790914473000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (33, '01a21d7a-c353-8e59-a045-5416e8b98b24', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 0, 'sim', 'sim-4834bb3a0794a62c197ae1f17defb583', NULL, '2348012345631', 90, 'DELIVRD', NULL, 1795790914387000, 1795790914500000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (34, '01a21d7a-c377-857a-a324-7d6258adb0a5', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 'sim', 'sim-ca97c628f4a596f1c2a99ad3e840c546', NULL, '2348012345632', 45, 'ringing', NULL, 1795790914423000, 1795790914512000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (35, '01a21d7a-c38a-8a03-a0bc-b43e037cb32e', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 'sim', 'sim-ca97c628f4a596f1c2a99ad3e840c546', NULL, '2348012345632', 91, 'answered', NULL, 1795790914442000, 1795790914545000, 3, '{"answered_at":"2026-11-27T14:48:34.442Z","answered_by":"human"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (36, '01a21d7a-c38b-8e46-a158-5f1731c9d3f4', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 'sim', 'sim-ca97c628f4a596f1c2a99ad3e840c546', NULL, '2348012345632', 95, 'completed', NULL, 1795790914443000, 1795790914571000, 4, '{"answered_at":"2026-11-27T14:48:34.442Z","answered_by":"human","ended_at":"2026-11-27T14:48:41.442Z","duration":7,"hangup_cause":"normal_clearing"}');
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (37, '01a21d7a-c3a2-8d69-ae65-e653db305ac5', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 0, 'sim', 'sim-d8522d6ad484feb37fdbb74ebfd70cf3', NULL, 'bo@example.com', 90, 'delivered', NULL, 1795790914466000, 1795790914609000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (38, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c494-722b-850c-d3a63d4be8a6', 0, 'up', '4a60f00c-7db7-4be0-993f-3ac259322e92', NULL, '233201234501', 40, 'submit', NULL, NULL, 1795790914754000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (39, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c4a9-732d-9c1d-ab9b60072ab1', 0, 'up', '5bcbed4a-ef30-4284-9267-000ac5aa62de', NULL, '233201234502', 40, 'submit', NULL, NULL, 1795790914796000, 1, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (40, '019b7ca9-8f2e-808d-af06-dd3108c01a86', 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c494-722b-850c-d3a63d4be8a6', 0, 'up', '4a60f00c-7db7-4be0-993f-3ac259322e92', '4a60f00c-7db7-4be0-993f-3ac259322e92-0', '233201234501', 90, 'delivered', NULL, 1767323045678000, 1795790914860000, 2, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (41, '019b7ca9-8f2e-85b3-a7c6-13a0751317d9', '', NULL, NULL, 'up', '0190aaaa-0000-7000-8000-000000000000', '0190aaaa-0000-7000-8000-000000000000-0', '233201234503', 90, 'delivered', NULL, 1767323045678000, 1795790914898000, NULL, NULL);
INSERT INTO public.messaging_report OVERRIDING SYSTEM VALUE VALUES (42, NULL, 'acc_vu3AmU1wja9MvmSngKwVfH', '01a21d7a-c611-7071-8c57-ecc112892056', 0, 'sim', NULL, NULL, '2348012349903', 80, 'submit', 'destination_refused', NULL, 1795790915140000, 1, NULL);
INSERT INTO public.messaging_resend VALUES ('01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 0, '01a21d7a-c611-7071-8c57-ecc112892056', 'ada', 1795790915090000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-bc6a-77ed-b0ce-8e2c7c1cc211', 0, 0, 0, NULL, 1, 1, 'sim', 1795790912680000, NULL, 2, NULL, 'destination_refused', 'The simulated carrier refuses such recipients, as it does numbers ending in 9903 and rejected@', NULL, 1795790912693000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-bc51-71aa-848e-c991fab1b2c8', 0, 0, 4, NULL, 1, 1, 'sim', 1795790912680000, NULL, 1, 'sim-c5ee31658b79d47bf47217550a4cabb1', NULL, NULL, NULL, 1795790912693000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-bcde-71bc-85e1-ab14c4b6d784', 0, 0, 0, NULL, 1, 1, 'sim', 1795790912784000, NULL, 1, 'sim-18a9a36caf84f2f54deee0146ddb4adb', NULL, NULL, '{"sender":"2340996527194","category":"utility","cost":"0.0100","currency":"USD"}', 1795790912805000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-bd76-7264-9234-5019b06c7d0d', 0, 0, 0, NULL, 1, 2, 'sim', 1795790912908000, NULL, 1, 'sim-fb0737c1f0b38453615ebe05cfeec14f', NULL, NULL, '{"sender":"2340996527194","category":"utility","cost":"0.0100","currency":"USD"}', 1795790912917000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c1e0-742f-9981-94c05428dfd9', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914050000, NULL, 1, 'sim-a73a980a3bc61abb189b1965bdc30d64', NULL, NULL, NULL, 1795790914056000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c1f7-7052-87a1-30f997388223', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914067000, NULL, 1, 'sim-cfc1544abf768c9b6b220b30582a1dcd', NULL, NULL, NULL, 1795790914080000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c259-77ae-a3d5-4b14d42936b7', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914163000, NULL, 1, 'sim-ac161ccb4b339723ee548a82c4e5b33e', NULL, NULL, NULL, 1795790914192000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c26a-729a-9189-dcb8b87756bc', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914201000, NULL, 1, 'sim-e3a2e12e76e7af0431d0a044c42fa23f', NULL, NULL, NULL, 1795790914213000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c2b3-74a3-ae55-c8ab065bf9bf', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914268000, NULL, 4, 'dundun-2300db26c43ae31a990ea881689067e0035b0280', 'answer_lost', 'The simulated carrier lost its answer', NULL, 1795790914281000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c283-771c-abdd-b1c7174ca265', 0, 0, 0, NULL, 1, 1, 'sim', 1795790914268000, NULL, 1, 'dundun-43ee9d4c53557e447f5312a96bea68b58269686e', NULL, NULL, '{"cost":"100","currency":"NGN","delivered_amount":"100","operator_reference":"SIM-dundun-43ee9d4c53557e447f5312a96bea68b58269686e"}', 1795790914281000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 0, 0, 0, NULL, 1, 3, 'sim', 1795790914356000, NULL, 1, 'sim-4834bb3a0794a62c197ae1f17defb583', NULL, NULL, NULL, 1795790914376000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c355-729c-b826-31cb3da29b0c', 0, 0, 0, NULL, 1, 2, 'sim', 1795790914415000, NULL, 1, 'sim-ca97c628f4a596f1c2a99ad3e840c546', NULL, NULL, NULL, 1795790914429000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 0, 0, 0, NULL, 1, 2, 'sim', 1795790914450000, NULL, 1, 'sim-d8522d6ad484feb37fdbb74ebfd70cf3', NULL, NULL, NULL, 1795790914473000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c494-722b-850c-d3a63d4be8a6', 0, 0, 0, NULL, 1, 4, 'up', 1795790914741000, NULL, 1, '4a60f00c-7db7-4be0-993f-3ac259322e92', NULL, NULL, NULL, 1795790914754000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c4a9-732d-9c1d-ab9b60072ab1', 0, 0, 0, NULL, 1, 4, 'up', 1795790914768000, NULL, 1, '5bcbed4a-ef30-4284-9267-000ac5aa62de', NULL, NULL, NULL, 1795790914796000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c5b4-754d-bd4f-3e150032374c', 0, 0, 0, NULL, 1, 3, 'sim', 1795790915028000, NULL, 4, NULL, 'answer_lost', 'The simulated relay lost its answer', NULL, 1795790915045000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c611-7071-8c57-ecc112892056', 0, 0, 0, NULL, 1, 5, 'sim', 1795790915124000, NULL, 2, NULL, 'destination_refused', 'The simulated carrier refuses such recipients, as it does numbers ending in 9903 and rejected@', NULL, 1795790915140000);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-c596-73cb-96f9-df1ef55b8ddc', 0, 0, 0, NULL, 4, 6, 'sim', 1795790915009000, NULL, NULL, NULL, 'answer_lost', 'The simulated carrier lost its answer', NULL, NULL);
INSERT INTO public.messaging_submission VALUES ('01a21d7a-d808-7180-85e9-f20e6f078fd4', 0, 0, 0, NULL, 1, 8, 'up', 1795790919708000, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_suppression VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'left@example.com', 'email', '*', 'manual', 1795790912357000, NULL);
INSERT INTO public.messaging_suppression VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345698', 'voice', 'marketing', 'do_not_call', 1795790914124000, NULL);
INSERT INTO public.messaging_suppression VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'bounced@example.com', 'email', '*', 'hard_bounce', 1795790914200000, '01a21d7a-c1f7-7052-87a1-30f997388223-0');
INSERT INTO public.messaging_suppression VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', '2348012345677', '*', '*', 'opted out', 1795790915564000, NULL);
INSERT INTO public.messaging_vas_allowance VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'NGN', 500000000, 50000000, 1795790912189000, 2000000, 1795790912189002);
INSERT INTO public.messaging_vas_order VALUES ('01a21d7a-c283-771c-abdd-b1c7174ca265', 'acc_vu3AmU1wja9MvmSngKwVfH', 'shop-1', 'Qo1RPe3PsLxs9f5uJ5yPKe7qhbIVI4YEmTlIKsLDaRg', 'TLZer0NFPNehnaLDnaQwzPF3l4mABmbb_3p7HDEp3YY', 'airtime-ng', 'airtime', 1000000, 'NGN', NULL, 1795790914179000, 1795877314179000, NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_vas_order VALUES ('01a21d7a-c2b3-74a3-ae55-c8ab065bf9bf', 'acc_vu3AmU1wja9MvmSngKwVfH', 'shop-2', 'DJRHmlrjbP8-ebjzY6NvG2eAflNFYPw46OVozh6gVwU', 'Ep7lHQntpOv1PIbNt6CQwRtl857N7KiPqh_Qo1K1_ns', 'airtime-ng', 'airtime', 1000000, 'NGN', NULL, 1795790914227000, 1795877314227000, NULL, NULL, NULL, NULL);
INSERT INTO public.messaging_verification VALUES ('01a21d7a-c2d5-76c8-8013-5a8293d3995d', 'acc_vu3AmU1wja9MvmSngKwVfH', 'sms', 'NG', 'IVh7rlN3kB11dZi1SVHGofV-gn-ZXHYuPsZz7cWRIxQ', 'pending', 0, 5, 1795790914262000, 1795791514262000, '01a21d7a-c309-7129-95ab-4b1bbd16dc0a', 1795791514262000, NULL, NULL);
INSERT INTO public.messaging_verification VALUES ('01a21d7a-c33c-77cd-8794-796336aacea7', 'acc_vu3AmU1wja9MvmSngKwVfH', 'voice', 'NG', 'A3EIgyn6RJKnQORhkndcj99FcnUBZBzvl2vzGuxPwBw', 'pending', 0, 5, 1795790914364000, 1795791514364000, '01a21d7a-c355-729c-b826-31cb3da29b0c', 1795791514364000, NULL, NULL);
INSERT INTO public.messaging_verification VALUES ('01a21d7a-c366-740d-85b7-f46c689601f5', 'acc_vu3AmU1wja9MvmSngKwVfH', 'email', '', 'DcSW0d7cefKQXmC7bxmGNiArISTabeUUGiYUG9bQ0pI', 'pending', 0, 5, 1795790914406000, 1795791514406000, '01a21d7a-c378-739c-8e0a-3aeeb81dbf41', 1795791514406000, NULL, NULL);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'recipient', '-KKUgFRM-ez-GiZ9n5U-XUfQa9kSrdJur42VM-vF8H4', 1795790914262000, 1, 1795790944262000);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'country', 'NG', 1795790914262000, 2, 0);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'network', 'Vf2K0nFxlVdM7iXXPOATu0VkPDOfUrH39XHv4w2oC4A', 1795790914262000, 2, 0);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'recipient', 'x5SDnVpbAxuXKTQqcPX73tWUF13R4AvvIrtujHc8OuM', 1795790914364000, 1, 1795790944364000);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'account', '-', 1795790914262000, 3, 0);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'country', '-', 1795790914406000, 1, 0);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'network', '-NKa-ksO4P-5ykOffW06dLjU9H3GVWuCdQ-vNFDodLQ', 1795790914406000, 1, 0);
INSERT INTO public.messaging_verification_limit VALUES ('acc_vu3AmU1wja9MvmSngKwVfH', 'recipient', 'fxLgt5hnjE2LuD8KRZl_kZZiD21lY97lNLO4d_aht44', 1795790914406000, 1, 1795790944406000);
INSERT INTO public.migrations VALUES (1, 1700000001000, 'Accounts1700000001000');
INSERT INTO public.migrations VALUES (2, 1700000002000, 'Webhooks1700000002000');
INSERT INTO public.migrations VALUES (3, 1700000003000, 'Health1700000003000');
INSERT INTO public.migrations VALUES (4, 1700000003000, 'Secrets1700000003000');
INSERT INTO public.migrations VALUES (5, 1700000005000, 'EmailDomains1700000005000');
INSERT INTO public.migrations VALUES (6, 1700000006000, 'Portal1700000006000');
INSERT INTO public.migrations VALUES (7, 1700000008000, 'Callers1700000008000');
INSERT INTO public.migrations VALUES (8, 1700000009000, 'Smpp1700000009000');
INSERT INTO public.migrations VALUES (9, 1790000000000, 'Store1790000000000');
INSERT INTO public.migrations VALUES (10, 1790000000010, 'Contacts1790000000010');
INSERT INTO public.migrations VALUES (11, 1790000000020, 'Vas1790000000020');
INSERT INTO public.migrations VALUES (12, 1790000000030, 'Verifications1790000000030');
INSERT INTO public.migrations VALUES (13, 1790000000040, 'Operations1790000000040');
INSERT INTO public.migrations VALUES (14, 1790000000050, 'Cancellations1790000000050');
INSERT INTO public.migrations VALUES (15, 1790000000100, 'RecipientIndex1790000000100');
SELECT pg_catalog.setval('public.gateway_smpp_delivery_position_seq', 1, false);
SELECT pg_catalog.setval('public.gateway_webhook_attempt_position_seq', 49, true);
SELECT pg_catalog.setval('public.gateway_webhook_delivery_position_seq', 26, true);
SELECT pg_catalog.setval('public.messaging_report_id_seq', 42, true);
SELECT pg_catalog.setval('public.migrations_id_seq', 15, true);
ALTER TABLE ONLY public.gateway_audit
    ADD CONSTRAINT "PK_0659b5ebd027f36caaa2e312678" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_account
    ADD CONSTRAINT "PK_070ff42dc9d7c6e30e0c08ce476" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_write_probe
    ADD CONSTRAINT "PK_11a4f39df4d9e473361eb966209" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_caller
    ADD CONSTRAINT "PK_201df2e7c8325147f4f22d5b8d0" PRIMARY KEY (account_id, caller);
ALTER TABLE ONLY public.gateway_email_domain
    ADD CONSTRAINT "PK_283722058c14d1e27bb83f025f5" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_webhook_delivery
    ADD CONSTRAINT "PK_38a7a7885eb6d96db882919d032" PRIMARY KEY ("position");
ALTER TABLE ONLY public.gateway_smpp_part
    ADD CONSTRAINT "PK_3c9a8b443c9def77db55a6b393e" PRIMARY KEY (system_id, message_key, part);
ALTER TABLE ONLY public.gateway_smpp_delivery
    ADD CONSTRAINT "PK_444c2c4d0cf68b00ded479ed10f" PRIMARY KEY ("position");
ALTER TABLE ONLY public.gateway_webhook_attempt
    ADD CONSTRAINT "PK_663d01e37a2256168aca85492a2" PRIMARY KEY ("position");
ALTER TABLE ONLY public.gateway_member
    ADD CONSTRAINT "PK_6f3a75589cf82e85c3557958282" PRIMARY KEY (account_id, user_id);
ALTER TABLE ONLY public.gateway_secrets_key
    ADD CONSTRAINT "PK_7fdd59f1fabe86418a8804278b6" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_user_link
    ADD CONSTRAINT "PK_86b887432b44c278e592e952f5b" PRIMARY KEY (id);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_digest_key
    ADD CONSTRAINT "PK_92facb6bc2bdc9327628c06c02a" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_whatsapp_number
    ADD CONSTRAINT "PK_a8fc167c2df872e05b0d00fce00" PRIMARY KEY (number);
ALTER TABLE ONLY public.gateway_sender
    ADD CONSTRAINT "PK_b162e1e2ba22132dd78c7074e96" PRIMARY KEY (account_id, sender);
ALTER TABLE ONLY public.gateway_webhook_endpoint
    ADD CONSTRAINT "PK_ba2611f87b07a8b7a8ee2a6cd1c" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_email_domain_key
    ADD CONSTRAINT "PK_cb46b81e752d9fc76cd5b4eab48" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_whatsapp_template
    ADD CONSTRAINT "PK_e101b82b78047818279a8f36b7b" PRIMARY KEY (account_id, name, language);
ALTER TABLE ONLY public.gateway_user
    ADD CONSTRAINT "PK_e9cd638046eb073c8b98af6e989" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_credential
    ADD CONSTRAINT "PK_ec269b9d01a8d95de6d476f1e85" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_session
    ADD CONSTRAINT "PK_fc0ce8dacf2b8cf8f76a8fcc426" PRIMARY KEY (id);
ALTER TABLE ONLY public.gateway_smpp_credential
    ADD CONSTRAINT "PK_fd9b272efd9554d0392b279eeaf" PRIMARY KEY (system_id);
ALTER TABLE ONLY public.gateway_whatsapp_number
    ADD CONSTRAINT "UQ_146547e2e7dc3e588d4d20d1063" UNIQUE (phone_number_id);
ALTER TABLE ONLY public.gateway_user
    ADD CONSTRAINT "UQ_5e3bf5f02a164815ca5eb7c1375" UNIQUE (email);
ALTER TABLE ONLY public.gateway_credential
    ADD CONSTRAINT "UQ_6051b382c460597d53e9f39a2e9" UNIQUE (fingerprint);
ALTER TABLE ONLY public.gateway_email_domain
    ADD CONSTRAINT "UQ_722ea2d67dd52308ccad06e3108" UNIQUE (verified_name);
ALTER TABLE ONLY public.gateway_user_link
    ADD CONSTRAINT "UQ_c64ef9c5226bcaeb75784b1b981" UNIQUE (fingerprint);
ALTER TABLE ONLY public.gateway_email_domain
    ADD CONSTRAINT gateway_email_domain_of_account UNIQUE (account_id, name);
ALTER TABLE ONLY public.gateway_webhook_delivery
    ADD CONSTRAINT gateway_webhook_delivery_id UNIQUE (endpoint_id, id);
ALTER TABLE ONLY public.gateway_webhook_endpoint
    ADD CONSTRAINT gateway_webhook_endpoint_slot UNIQUE (account_id, slot);
ALTER TABLE ONLY public.messaging_batch_attachment
    ADD CONSTRAINT messaging_batch_attachment_pkey PRIMARY KEY (batch, digest, n);
ALTER TABLE ONLY public.messaging_batch_chunk
    ADD CONSTRAINT messaging_batch_chunk_pkey PRIMARY KEY (batch, n);
ALTER TABLE ONLY public.messaging_batch_label
    ADD CONSTRAINT messaging_batch_label_pkey PRIMARY KEY (batch, n);
ALTER TABLE ONLY public.messaging_batch_personal
    ADD CONSTRAINT messaging_batch_personal_pkey PRIMARY KEY (batch, n);
ALTER TABLE ONLY public.messaging_batch
    ADD CONSTRAINT messaging_batch_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_cancellation
    ADD CONSTRAINT messaging_cancellation_pkey PRIMARY KEY (batch, provider);
ALTER TABLE ONLY public.messaging_consent_history
    ADD CONSTRAINT messaging_consent_history_pkey PRIMARY KEY (contact, id);
ALTER TABLE ONLY public.messaging_consent
    ADD CONSTRAINT messaging_consent_pkey PRIMARY KEY (contact, channel, category);
ALTER TABLE ONLY public.messaging_contact_address
    ADD CONSTRAINT messaging_contact_address_pkey PRIMARY KEY (tenant, address);
ALTER TABLE ONLY public.messaging_contact_group
    ADD CONSTRAINT messaging_contact_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_contact
    ADD CONSTRAINT messaging_contact_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_erased_suppression
    ADD CONSTRAINT messaging_erased_suppression_pkey PRIMARY KEY (tenant, digest, channel, category);
ALTER TABLE ONLY public.messaging_erasure
    ADD CONSTRAINT messaging_erasure_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_group_member
    ADD CONSTRAINT messaging_group_member_pkey PRIMARY KEY (group_id, contact);
ALTER TABLE ONLY public.messaging_hold
    ADD CONSTRAINT messaging_hold_pkey PRIMARY KEY (lanes, reason);
ALTER TABLE ONLY public.messaging_inbound_message
    ADD CONSTRAINT messaging_inbound_message_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_inbound_text
    ADD CONSTRAINT messaging_inbound_text_pkey PRIMARY KEY (contact, id);
ALTER TABLE ONLY public.messaging_instance
    ADD CONSTRAINT messaging_instance_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_lane
    ADD CONSTRAINT messaging_lane_pkey PRIMARY KEY (lane_key);
ALTER TABLE ONLY public.messaging_last_inbound
    ADD CONSTRAINT messaging_last_inbound_pkey PRIMARY KEY (contact, sender);
ALTER TABLE ONLY public.messaging_message
    ADD CONSTRAINT messaging_message_pkey PRIMARY KEY (batch, "position");
ALTER TABLE ONLY public.messaging_notification
    ADD CONSTRAINT messaging_notification_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.messaging_provider_pause
    ADD CONSTRAINT messaging_provider_pause_pkey PRIMARY KEY (provider);
ALTER TABLE ONLY public.messaging_rate_slot
    ADD CONSTRAINT messaging_rate_slot_pkey PRIMARY KEY (rate_key);
ALTER TABLE ONLY public.messaging_report
    ADD CONSTRAINT messaging_report_pkey PRIMARY KEY (tenant, received_at, id);
ALTER TABLE ONLY public.messaging_resend
    ADD CONSTRAINT messaging_resend_pkey PRIMARY KEY (batch, "position");
ALTER TABLE ONLY public.messaging_submission
    ADD CONSTRAINT messaging_submission_pkey PRIMARY KEY (batch, n);
ALTER TABLE ONLY public.messaging_suppression
    ADD CONSTRAINT messaging_suppression_pkey PRIMARY KEY (tenant, address, channel, category);
ALTER TABLE ONLY public.messaging_vas_allowance
    ADD CONSTRAINT messaging_vas_allowance_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY public.messaging_vas_order
    ADD CONSTRAINT messaging_vas_order_pkey PRIMARY KEY (batch);
ALTER TABLE ONLY public.messaging_verification_limit
    ADD CONSTRAINT messaging_verification_limit_pkey PRIMARY KEY (tenant, scope, subject);
ALTER TABLE ONLY public.messaging_verification
    ADD CONSTRAINT messaging_verification_pkey PRIMARY KEY (id);
CREATE INDEX gateway_audit_account ON public.gateway_audit USING btree (account_id, id);
CREATE INDEX gateway_credential_account ON public.gateway_credential USING btree (account_id);
CREATE INDEX gateway_email_domain_check_due ON public.gateway_email_domain USING btree (check_due_at);
CREATE INDEX gateway_email_domain_key_domain ON public.gateway_email_domain_key USING btree (domain_id);
CREATE INDEX gateway_email_domain_name ON public.gateway_email_domain USING btree (name);
CREATE INDEX gateway_member_user ON public.gateway_member USING btree (user_id);
CREATE INDEX gateway_session_last_used ON public.gateway_session USING btree (last_used_at);
CREATE INDEX gateway_session_user ON public.gateway_session USING btree (user_id);
CREATE INDEX gateway_smpp_credential_account ON public.gateway_smpp_credential USING btree (account_id);
CREATE INDEX gateway_smpp_delivery_created ON public.gateway_smpp_delivery USING btree (created_at);
CREATE INDEX gateway_smpp_delivery_due ON public.gateway_smpp_delivery USING btree (system_id, due_at, "position");
CREATE INDEX gateway_smpp_part_created ON public.gateway_smpp_part USING btree (created_at);
CREATE INDEX gateway_user_link_account ON public.gateway_user_link USING btree (account_id);
CREATE INDEX gateway_webhook_attempt_endpoint ON public.gateway_webhook_attempt USING btree (endpoint_id, "position");
CREATE INDEX gateway_webhook_delivery_due ON public.gateway_webhook_delivery USING btree (endpoint_id, due_at, "position") WHERE (due_at IS NOT NULL);
CREATE INDEX gateway_whatsapp_number_account ON public.gateway_whatsapp_number USING btree (account_id);
CREATE INDEX gateway_whatsapp_number_templates ON public.gateway_whatsapp_number USING btree (templates_due_at);
CREATE INDEX gateway_whatsapp_number_waba ON public.gateway_whatsapp_number USING btree (waba);
CREATE INDEX gateway_whatsapp_template_waba ON public.gateway_whatsapp_template USING btree (waba);
CREATE INDEX messaging_batch_content ON public.messaging_batch USING btree (completed_at) WHERE ((content IS NOT NULL) AND (completed_at IS NOT NULL) AND (poll_at IS NULL));
CREATE UNIQUE INDEX messaging_batch_idempotency ON public.messaging_batch USING btree (tenant, channel, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX messaging_batch_label_list ON public.messaging_batch_label USING btree (tenant, tag, batch);
CREATE INDEX messaging_batch_list ON public.messaging_batch USING btree (tenant, id);
CREATE INDEX messaging_batch_poll ON public.messaging_batch USING btree (poll_at) WHERE (poll_at IS NOT NULL);
CREATE INDEX messaging_batch_purge ON public.messaging_batch USING btree (completed_at) WHERE (content IS NULL);
CREATE INDEX messaging_batch_queue ON public.messaging_batch USING btree (lane, priority, parked_until, available_at, id) WHERE (state < 4);
CREATE INDEX messaging_cancellation_due ON public.messaging_cancellation USING btree (provider, due_at);
CREATE INDEX messaging_contact_address_contact ON public.messaging_contact_address USING btree (contact);
CREATE INDEX messaging_contact_group_list ON public.messaging_contact_group USING btree (tenant, id);
CREATE INDEX messaging_contact_list ON public.messaging_contact USING btree (tenant, id);
CREATE INDEX messaging_group_member_contact ON public.messaging_group_member USING btree (contact);
CREATE INDEX messaging_inbound_received ON public.messaging_inbound_message USING btree (received_at);
CREATE INDEX messaging_inbound_text_list ON public.messaging_inbound_text USING btree (tenant, id);
CREATE INDEX messaging_inbound_text_received ON public.messaging_inbound_text USING btree (received_at);
CREATE INDEX messaging_lane_held ON public.messaging_lane USING btree (lane_key) WHERE (owner IS NOT NULL);
CREATE INDEX messaging_message_recipient ON public.messaging_message USING btree (recipient, batch);
CREATE INDEX messaging_message_reference ON public.messaging_message USING btree (reference) WHERE (reference IS NOT NULL);
CREATE INDEX messaging_notification_due ON public.messaging_notification USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX messaging_notification_ended ON public.messaging_notification USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX messaging_notification_idempotency ON public.messaging_notification USING btree (tenant, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX messaging_notification_planned ON public.messaging_notification USING btree (tenant, id) WHERE (plan IS NOT NULL);
CREATE INDEX messaging_report_batch ON public.messaging_report USING btree (batch, id) WHERE (batch IS NOT NULL);
CREATE UNIQUE INDEX messaging_report_hash ON public.messaging_report USING btree (hash) WHERE (hash IS NOT NULL);
CREATE INDEX messaging_report_unmatched ON public.messaging_report USING btree (id) WHERE (batch IS NULL);
CREATE INDEX messaging_report_waiting ON public.messaging_report USING btree (reference) WHERE (batch IS NULL);
CREATE INDEX messaging_report_waiting_message ON public.messaging_report USING btree (message_id) WHERE (batch IS NULL);
CREATE INDEX messaging_resend_new ON public.messaging_resend USING btree (new_batch);
CREATE INDEX messaging_submission_open ON public.messaging_submission USING btree (batch, n) WHERE (outcome IS NULL);
CREATE INDEX messaging_submission_reference ON public.messaging_submission USING btree (reference) WHERE (reference IS NOT NULL);
CREATE INDEX messaging_submission_unknown ON public.messaging_submission USING btree (provider, first_sent_at) WHERE (outcome = 4);
CREATE INDEX messaging_vas_order_list ON public.messaging_vas_order USING btree (tenant, batch);
CREATE INDEX messaging_vas_order_number ON public.messaging_vas_order USING btree (number_digest, tenant, created_at);
CREATE INDEX messaging_vas_order_recent ON public.messaging_vas_order USING btree (tenant, created_at);
CREATE UNIQUE INDEX messaging_vas_order_reference ON public.messaging_vas_order USING btree (reference, tenant);
CREATE INDEX messaging_vas_order_tell ON public.messaging_vas_order USING btree (tell_at);
CREATE INDEX messaging_verification_batch ON public.messaging_verification USING btree (batch);
CREATE INDEX messaging_verification_erase ON public.messaging_verification USING btree (erase_at);
CREATE INDEX messaging_verification_key ON public.messaging_verification USING btree (tenant, idempotency_key);
CREATE INDEX messaging_verification_old ON public.messaging_verification USING btree (created_at);
CREATE INDEX messaging_verification_recent ON public.messaging_verification USING btree (tenant, country, created_at);
CREATE INDEX messaging_verification_window ON public.messaging_verification_limit USING btree (window_at);
ALTER TABLE ONLY public.gateway_member
    ADD CONSTRAINT "FK_2035870b26c43fa0d78bd1690f7" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_whatsapp_number
    ADD CONSTRAINT "FK_2146143313e1da785169eedf5ec" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_caller
    ADD CONSTRAINT "FK_232a9f8c996a0e0ed6d855b625d" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_sender
    ADD CONSTRAINT "FK_37c3bd04a7fd338d44cd05216d2" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_email_domain
    ADD CONSTRAINT "FK_521c6d5669c0e7dc6922b545da1" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_smpp_credential
    ADD CONSTRAINT "FK_6bee83af8856f5e0a4d29eaa75d" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_session
    ADD CONSTRAINT "FK_8d35454b87b5f163ac37fba5510" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_user_link
    ADD CONSTRAINT "FK_b2be60d3648459a850ad168eb56" FOREIGN KEY (user_id) REFERENCES public.gateway_user(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_whatsapp_template
    ADD CONSTRAINT "FK_cce5116f03f6f3726fd634480ee" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_session
    ADD CONSTRAINT "FK_d3b0ac4bf382520c6283dbaf23a" FOREIGN KEY (user_id) REFERENCES public.gateway_user(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_email_domain_key
    ADD CONSTRAINT "FK_e7dd475cadf755e701340b83356" FOREIGN KEY (domain_id) REFERENCES public.gateway_email_domain(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_user_link
    ADD CONSTRAINT "FK_ed4f68d7c22981f16d27b22780a" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_credential
    ADD CONSTRAINT "FK_f2a20ac11706cf9c4d3893f0cff" FOREIGN KEY (account_id) REFERENCES public.gateway_account(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.gateway_member
    ADD CONSTRAINT "FK_fbf0d2408acaa10d51a92438f2b" FOREIGN KEY (user_id) REFERENCES public.gateway_user(id) ON DELETE CASCADE;