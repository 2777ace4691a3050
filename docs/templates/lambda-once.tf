# Generated from the constructs of lambda-once by `npm run templates`.

resource "aws_dynamodb_table" "once" {
  name                        = "lambda-once"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "id"
  deletion_protection_enabled = true

  attribute {
    name = "id"
    type = "S"
  }

  attribute {
    name = "sweep"
    type = "S"
  }

  attribute {
    name = "dueAt"
    type = "N"
  }

  ttl {
    attribute_name = "expiresAt"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  global_secondary_index {
    name            = "sweep"
    hash_key        = "sweep"
    range_key       = "dueAt"
    projection_type = "KEYS_ONLY"
  }

  lifecycle {
    prevent_destroy = true
  }
}

data "aws_iam_policy_document" "once_claim" {
  statement {
    actions   = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
    resources = [aws_dynamodb_table.once.arn]
  }
}

data "aws_iam_policy_document" "once_lookup" {
  statement {
    actions   = ["dynamodb:GetItem"]
    resources = [aws_dynamodb_table.once.arn]
  }
}

data "aws_iam_policy_document" "once_inspect" {
  statement {
    actions   = ["dynamodb:DescribeTable", "dynamodb:GetItem"]
    resources = [aws_dynamodb_table.once.arn]
  }

  statement {
    actions   = ["dynamodb:Query"]
    resources = ["${aws_dynamodb_table.once.arn}/index/sweep"]
  }
}

data "aws_iam_policy_document" "once_resolve" {
  statement {
    actions   = ["dynamodb:GetItem", "dynamodb:UpdateItem"]
    resources = [aws_dynamodb_table.once.arn]
  }
}

data "aws_iam_policy_document" "once_sweep" {
  statement {
    actions   = ["dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:UpdateItem"]
    resources = [aws_dynamodb_table.once.arn]
  }

  statement {
    actions   = ["dynamodb:Query"]
    resources = ["${aws_dynamodb_table.once.arn}/index/sweep"]
  }

  statement {
    actions   = ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
    resources = [aws_sqs_queue.sweeper_dead_letters.arn]
  }
}

data "archive_file" "sweeper" {
  type        = "zip"
  source_dir  = "node_modules/lambda-once/dist/assets/sweeper"
  output_path = ".terraform/lambda-once-sweeper.zip"
}

data "aws_partition" "current" {}

data "aws_iam_policy_document" "sweeper_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "sweeper" {
  name               = "lambda-once-sweeper"
  assume_role_policy = data.aws_iam_policy_document.sweeper_trust.json
}

resource "aws_iam_role_policy" "sweeper" {
  role   = aws_iam_role.sweeper.id
  policy = data.aws_iam_policy_document.once_sweep.json
}

resource "aws_iam_role_policy_attachment" "sweeper_logs" {
  role       = aws_iam_role.sweeper.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_cloudwatch_log_group" "sweeper" {
  name              = "/aws/lambda/lambda-once-sweeper"
  retention_in_days = 30
}

resource "aws_lambda_function" "sweeper" {
  function_name                  = "lambda-once-sweeper"
  role                           = aws_iam_role.sweeper.arn
  filename                       = data.archive_file.sweeper.output_path
  source_code_hash               = data.archive_file.sweeper.output_base64sha256
  handler                        = "index.handler"
  runtime                        = "nodejs24.x"
  architectures                  = ["arm64"]
  memory_size                    = 256
  timeout                        = 50
  reserved_concurrent_executions = 1

  environment {
    variables = { LAMBDA_ONCE_TABLE = aws_dynamodb_table.once.name }
  }

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.sweeper.name
  }
}

resource "aws_lambda_function_event_invoke_config" "sweeper" {
  function_name                = aws_lambda_function.sweeper.function_name
  maximum_event_age_in_seconds = 300
  maximum_retry_attempts       = 1

  destination_config {
    on_failure {
      destination = aws_sqs_queue.sweeper_dead_letters.arn
    }
  }
}

resource "aws_sqs_queue" "sweeper_dead_letters" {
  name                      = "lambda-once-sweeper-dead-letters"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = true
}

data "aws_iam_policy_document" "tls_only" {
  statement {
    effect    = "Deny"
    actions   = ["sqs:*"]
    resources = [aws_sqs_queue.sweeper_dead_letters.arn]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_sqs_queue_policy" "sweeper_dead_letters" {
  queue_url = aws_sqs_queue.sweeper_dead_letters.id
  policy    = data.aws_iam_policy_document.tls_only.json
}

data "aws_caller_identity" "current" {}

data "aws_iam_policy_document" "scheduler_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["scheduler.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [data.aws_caller_identity.current.account_id]
    }
  }
}

resource "aws_iam_role" "scheduler" {
  name               = "lambda-once-scheduler"
  assume_role_policy = data.aws_iam_policy_document.scheduler_trust.json
}

data "aws_iam_policy_document" "scheduler" {
  statement {
    actions   = ["lambda:InvokeFunction"]
    resources = [aws_lambda_function.sweeper.arn, "${aws_lambda_function.sweeper.arn}:*"]
  }

  statement {
    actions   = ["sqs:SendMessage"]
    resources = [aws_sqs_queue.sweeper_dead_letters.arn]
  }
}

resource "aws_iam_role_policy" "scheduler" {
  role   = aws_iam_role.scheduler.id
  policy = data.aws_iam_policy_document.scheduler.json
}

resource "aws_scheduler_schedule" "sweeper" {
  name                = "lambda-once-sweeper"
  schedule_expression = "rate(1 minute)"

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.sweeper.arn
    role_arn = aws_iam_role.scheduler.arn

    dead_letter_config {
      arn = aws_sqs_queue.sweeper_dead_letters.arn
    }

    retry_policy {
      maximum_event_age_in_seconds = 60
      maximum_retry_attempts       = 1
    }
  }
}

output "once_table" {
  value = aws_dynamodb_table.once.name
}
