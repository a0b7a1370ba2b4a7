-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "account";

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "auth";

-- CreateTable
CREATE TABLE "account"."accounts" (
    "id" TEXT NOT NULL,
    "console_user_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account"."projects" (
    "id" TEXT NOT NULL,
    "account_id" TEXT,
    "name" TEXT NOT NULL,
    "publishable_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "signup_enabled" BOOLEAN NOT NULL DEFAULT true,
    "email_enabled" BOOLEAN NOT NULL DEFAULT true,
    "confirmation_required" BOOLEAN NOT NULL DEFAULT false,
    "password_min_length" INTEGER NOT NULL DEFAULT 8,
    "password_required" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "access_token_ttl_seconds" INTEGER NOT NULL DEFAULT 3600,
    "session_ttl_seconds" INTEGER NOT NULL DEFAULT 2592000,
    "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "redirect_urls" TEXT[] DEFAULT ARRAY[]::TEXT[],

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account"."api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "pepper_id" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "last_four" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth"."users" (
    "id" UUID NOT NULL,
    "project_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT,
    "display_name" TEXT,
    "user_metadata" JSONB NOT NULL DEFAULT '{}',
    "email_confirmed_at" TIMESTAMPTZ(3),
    "banned_at" TIMESTAMPTZ(3),
    "last_sign_in_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth"."sessions" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "project_id" TEXT NOT NULL,
    "refresh_counter" INTEGER NOT NULL DEFAULT 0,
    "refreshed_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth"."signing_keys" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "private_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "accounts_console_user_id_key" ON "account"."accounts"("console_user_id");

-- CreateIndex
CREATE UNIQUE INDEX "projects_publishable_key_key" ON "account"."projects"("publishable_key");

-- CreateIndex
CREATE INDEX "projects_account_id_created_at_id_idx" ON "account"."projects"("account_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "account"."api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_account_id_created_at_id_idx" ON "account"."api_keys"("account_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "users_project_id_email_key" ON "auth"."users"("project_id", "email");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "auth"."sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "auth"."sessions"("expires_at");

-- CreateIndex
CREATE INDEX "signing_keys_project_id_idx" ON "auth"."signing_keys"("project_id");

-- AddForeignKey
ALTER TABLE "account"."projects" ADD CONSTRAINT "projects_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account"."api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"."accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "auth"."sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "auth"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- One key signs for a project at a time, so that processes that start together make one and not two.
CREATE UNIQUE INDEX "signing_keys_one_active" ON "auth"."signing_keys"("project_id") WHERE "retired_at" IS NULL;

-- "May this browser origin call?" is asked before it is known for which project.
CREATE INDEX "projects_allowed_origins_idx" ON "account"."projects" USING GIN ("allowed_origins");

-- Nobody may do anything by default.
REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON SCHEMA "account", "auth" FROM PUBLIC;

-- Each schema is written by its own service.
GRANT USAGE ON SCHEMA "account" TO gatehouse_account;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "account" TO gatehouse_account;
GRANT USAGE ON SCHEMA "auth" TO gatehouse_auth;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "auth" TO gatehouse_auth;

-- What libs/credentials reads on behalf of the others.
GRANT USAGE ON SCHEMA "account" TO gatehouse_auth, gatehouse_gateway, gatehouse_memory, gatehouse_registry;
GRANT SELECT ON "account"."projects", "account"."api_keys" TO gatehouse_auth, gatehouse_gateway, gatehouse_memory, gatehouse_registry;
